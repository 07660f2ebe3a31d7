// What alerts do over time, as figures that a host shows each 30 s. Prometheus and the host's own evaluator are given the same.
import type { Rule } from '../../../shared/alerts/rule.ts';

export const STEP_SECONDS = 30;
const STEPS_A_MINUTE = 60 / STEP_SECONDS;
export const PROJECT = 'shop';
export const INSTANCE = '127.0.0.1:8068';

/** Samples in a row; without `from` there is none. */
interface Part {
  readonly from: number | undefined;
  readonly step: number;
  readonly samples: number;
}

export interface Fed {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly parts: readonly Part[];
}

export interface AlertCase {
  readonly rule: Rule['name'];
  readonly title: string;
  readonly series: readonly Fed[];
  /** First and last minute at which the alert fires, and the labels of its rule. Undefined: it stays quiet. */
  readonly fires?: {
    readonly from: number;
    readonly to: number;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly minutes: number;
  /** Id of the process that the alert names. */
  readonly runtimeId: string;
}

const hold = (value: number, minutes: number): Part => ({ from: value, step: 0, samples: minutes * STEPS_A_MINUTE });
const grow = (from: number, step: number, minutes: number): Part => ({ from, step, samples: minutes * STEPS_A_MINUTE });
const nothing = (minutes: number): Part => ({ from: undefined, step: 0, samples: minutes * STEPS_A_MINUTE });

const series = (name: string, labels: Fed['labels'], ...parts: readonly Part[]): Fed => ({ name, labels, parts });
const gauge = (name: string, ...parts: readonly Part[]): Fed => series(name, {}, ...parts);
const runs = (id: string, ...parts: readonly Part[]): Fed =>
  series('svc_build_info', { runtime_id: id, version: '1.0.0', node: 'v22' }, ...parts);
const up = (...parts: readonly Part[]): Fed => series('up', { job: 'svc' }, ...parts);

const RUNTIME = 'r1';
const IRC = { endpoint: 'root/irc:irc~libera' };
const crashed = (...parts: readonly Part[]): Fed => series('svc_restarts_total', { reason: 'crashed' }, ...parts);
const stopped = (...parts: readonly Part[]): Fed => series('svc_restarts_total', { reason: 'stopped' }, ...parts);
const handled = (outcome: string, ...parts: readonly Part[]): Fed =>
  series('svc_inbox_handled_total', { endpoint: IRC.endpoint, outcome }, ...parts);
const endpoint = (what: string, ...parts: readonly Part[]): Fed => series(`svc_endpoint_${what}`, IRC, ...parts);
const verdict = (name: string, ...parts: readonly Part[]): Fed =>
  series('svc_release_verdict', { verdict: name }, ...parts);

type Given = Omit<AlertCase, 'minutes' | 'runtimeId'> & { readonly runtimeId?: string };

const CASES: readonly Given[] = [
  {
    rule: 'SvcDown',
    title: 'the host is gone: its last process is named',
    series: [up(hold(1, 5), hold(0, 10), hold(1, 10)), runs(RUNTIME, hold(1, 5), nothing(20))],
    fires: { from: 7, to: 19 },
  },
  {
    rule: 'SvcDown',
    title: 'nobody outside reaches it',
    series: [up(hold(1, 15)), series('probe_success', { job: 'svc-probe' }, hold(1, 5), hold(0, 10))],
    fires: { from: 7, to: 14, labels: { job: 'svc-probe' } },
  },
  {
    rule: 'SvcDown',
    title: 'two scrapes fail',
    series: [up(hold(1, 5), hold(0, 1), hold(1, 5)), runs(RUNTIME, hold(1, 11))],
  },
  {
    rule: 'SvcNotReady',
    title: 'a check stays unmet',
    series: [gauge('svc_ready', hold(1, 5), hold(0, 10), hold(1, 10))],
    fires: { from: 10, to: 19 },
  },
  {
    rule: 'SvcNotReady',
    title: 'a start takes four minutes',
    series: [gauge('svc_ready', hold(1, 5), hold(0, 4), hold(1, 10))],
  },
  {
    rule: 'SvcCrashed',
    title: 'one crash',
    series: [crashed(hold(0, 20), hold(1, 25))],
    fires: { from: 20, to: 39 },
  },
  {
    rule: 'SvcCrashed',
    title: 'a restart that was asked for',
    series: [crashed(hold(0, 30)), stopped(hold(3, 15), hold(4, 15))],
  },
  {
    rule: 'SvcCrashLoop',
    title: 'three crashes in five minutes',
    series: [crashed(hold(0, 20), hold(1, 2), hold(2, 2), hold(3, 21))],
    fires: { from: 24, to: 39 },
  },
  { rule: 'SvcCrashLoop', title: 'two crashes', series: [crashed(hold(7, 20), hold(8, 2), hold(9, 20))] },
  {
    rule: 'SvcEndpointOffline',
    title: 'an account stays offline, over restarts too',
    series: [
      endpoint('online', hold(1, 5), hold(0, 15), hold(1, 10)),
      endpoint('enabled', hold(1, 30)),
      runs('r0', hold(1, 8), nothing(22)),
      runs(RUNTIME, nothing(8), hold(1, 22)),
    ],
    fires: { from: 15, to: 24, labels: IRC },
  },
  {
    rule: 'SvcEndpointOffline',
    title: 'an operator has disabled the account',
    series: [endpoint('online', hold(0, 30)), endpoint('enabled', hold(0, 30))],
  },
  {
    rule: 'SvcRequiredEndpointOffline',
    title: 'a required account stays offline',
    series: [
      endpoint('online', hold(1, 5), hold(0, 10), hold(1, 10)),
      endpoint('enabled', hold(1, 25)),
      endpoint('required', hold(1, 25)),
    ],
    fires: { from: 10, to: 19, labels: IRC },
  },
  {
    rule: 'SvcRequiredEndpointOffline',
    title: 'an account that is not required',
    series: [endpoint('online', hold(0, 25)), endpoint('enabled', hold(1, 25)), endpoint('required', hold(0, 25))],
  },
  {
    rule: 'SvcStreamGaps',
    title: 'a client that does not read',
    series: [series('svc_sse_gaps_total', { reason: 'slow_consumer' }, hold(0, 20), hold(1, 25))],
    fires: { from: 20, to: 39 },
  },
  {
    rule: 'SvcStreamGaps',
    title: 'a client that asks for a malformed position',
    series: [series('svc_sse_gaps_total', { reason: 'malformed' }, hold(0, 20), hold(5, 20))],
  },
  {
    rule: 'SvcErrors',
    title: 'errors for ten minutes',
    series: [series('svc_log_messages_total', { level: 'error' }, hold(0, 15), grow(3, 3, 10), hold(60, 25))],
    fires: { from: 23, to: 36 },
  },
  {
    rule: 'SvcErrors',
    title: 'twenty errors, and many warnings',
    series: [
      series('svc_log_messages_total', { level: 'error' }, hold(5, 15), hold(25, 25)),
      series('svc_log_messages_total', { level: 'warn' }, grow(0, 10, 40)),
    ],
  },
  {
    rule: 'SvcDiskLow',
    title: 'less than twice the bound is free',
    series: [
      gauge('svc_disk_free_bytes', hold(9e9, 5), hold(2e8, 15), hold(9e9, 10)),
      gauge('svc_disk_min_free_bytes', hold(134_217_728, 30)),
    ],
    fires: { from: 10, to: 24 },
  },
  {
    rule: 'SvcDiskLow',
    title: 'a bound that an operator has lowered',
    series: [gauge('svc_disk_free_bytes', hold(2e8, 20)), gauge('svc_disk_min_free_bytes', hold(16_777_216, 20))],
  },
  {
    rule: 'SvcStateLarge',
    title: 'more than 80 % of the limit',
    series: [
      gauge('svc_state_bytes', hold(1e9, 5), hold(3.5e9, 40)),
      gauge('svc_state_limit_bytes', hold(4_294_967_296, 45)),
    ],
    fires: { from: 35, to: 44 },
  },
  {
    rule: 'SvcStateLarge',
    title: 'three quarters of the limit',
    series: [gauge('svc_state_bytes', hold(3.2e9, 45)), gauge('svc_state_limit_bytes', hold(4_294_967_296, 45))],
  },
  {
    rule: 'SvcWorkBlocked',
    title: 'an item is overdue',
    series: [
      series('svc_workroom_overdue', { board: 'web' }, hold(0, 5), hold(1, 15), hold(0, 10)),
      series('svc_workroom_blocked_oldest_seconds', { board: 'web' }, hold(0, 30)),
    ],
    fires: { from: 15, to: 24, labels: { board: 'web' } },
  },
  {
    rule: 'SvcWorkBlocked',
    title: 'an item has been blocked for more than a day',
    series: [
      series('svc_workroom_overdue', { board: 'web' }, hold(0, 30)),
      series('svc_workroom_blocked_oldest_seconds', { board: 'web' }, grow(86_100, 30, 30)),
    ],
    fires: { from: 16, to: 29, labels: { board: 'web' } },
  },
  {
    rule: 'SvcWorkBlocked',
    title: 'an item has been blocked for an hour',
    series: [
      series('svc_workroom_overdue', { board: 'web' }, hold(0, 30)),
      series('svc_workroom_blocked_oldest_seconds', { board: 'web' }, grow(3_600, 30, 30)),
    ],
  },
  {
    rule: 'SvcJournalDamaged',
    title: 'a proof finds a fault',
    series: [gauge('svc_workroom_journal_ok', hold(1, 5), hold(0, 10))],
    fires: { from: 6, to: 14 },
  },
  {
    rule: 'SvcJournalDamaged',
    title: 'no proof was made yet',
    series: [gauge('svc_workroom_journal_ok', nothing(5), hold(1, 10))],
  },
  {
    rule: 'SvcMessagesDying',
    title: 'a quarter of the messages dies for twenty minutes',
    series: [handled('done', grow(0, 9, 90)), handled('dead', hold(0, 70), grow(3, 3, 20))],
    fires: { from: 84, to: 89 },
  },
  {
    rule: 'SvcMessagesDying',
    title: 'all of ten messages in an hour die: too few for a rate',
    series: [handled('done', hold(0, 90)), handled('dead', hold(0, 70), grow(1, 1, 5), hold(10, 15))],
  },
  {
    rule: 'SvcMessagesDying',
    title: 'a burst that is over',
    series: [handled('done', grow(0, 9, 90)), handled('dead', hold(0, 65), hold(150, 25))],
    fires: { from: 65, to: 74 },
  },
  {
    rule: 'SvcDeadLetters',
    title: 'a dead letter that nobody decides on',
    series: [gauge('svc_inbox_dead', hold(0, 5), hold(1, 25)), gauge('svc_outbox_dead', hold(0, 5), hold(2, 25))],
    fires: { from: 20, to: 29 },
  },
  {
    rule: 'SvcDeadLetters',
    title: 'an operator replays within ten minutes',
    series: [gauge('svc_inbox_dead', hold(0, 5), hold(1, 10), hold(0, 10)), gauge('svc_outbox_dead', hold(0, 25))],
  },
  {
    rule: 'SvcBacklog',
    title: 'a handler hangs',
    series: [gauge('svc_inbox_oldest_seconds', grow(0, 30, 25)), gauge('svc_ingress_paused', hold(0, 25))],
    fires: { from: 16, to: 24 },
  },
  {
    rule: 'SvcBacklog',
    title: 'ingress is paused',
    series: [gauge('svc_inbox_oldest_seconds', grow(0, 30, 25)), gauge('svc_ingress_paused', hold(1, 25))],
  },
  {
    rule: 'SvcPausedLong',
    title: 'paused and forgotten',
    series: [gauge('svc_ingress_paused', hold(0, 5), hold(1, 125))],
    fires: { from: 125, to: 129 },
  },
  {
    rule: 'SvcPausedLong',
    title: 'paused for an hour',
    series: [gauge('svc_ingress_paused', hold(0, 5), hold(1, 60), hold(0, 70))],
  },
  {
    rule: 'SvcCheckpointOld',
    title: 'none since 26 hours',
    series: [gauge('svc_checkpoint_age_seconds', grow(93_300, 30, 30))],
    fires: { from: 21, to: 29 },
  },
  {
    rule: 'SvcCheckpointOld',
    title: 'one each day',
    series: [gauge('svc_checkpoint_age_seconds', grow(86_000, 30, 7), grow(0, 30, 20))],
  },
  {
    rule: 'SvcCheckpointUnverified',
    title: 'none was rehearsed for eight days',
    series: [gauge('svc_checkpoint_verified_seconds', grow(691_200, 30, 70))],
    fires: { from: 61, to: 69 },
  },
  {
    rule: 'SvcCheckpointUnverified',
    title: 'one each week',
    series: [gauge('svc_checkpoint_verified_seconds', grow(604_000, 30, 70))],
  },
  {
    rule: 'SvcCheckpointFailed',
    title: 'a rehearsal found a fault, and the next one none',
    series: [gauge('svc_checkpoint_failed', hold(0, 5), hold(1, 10), hold(0, 10))],
    fires: { from: 5, to: 19 },
  },
  {
    rule: 'SvcCheckpointFailed',
    title: 'each rehearsal went well',
    series: [gauge('svc_checkpoint_failed', hold(0, 20))],
  },
  {
    rule: 'SvcReleaseBad',
    title: 'a release does badly and is rolled back',
    series: [verdict('bad', hold(0, 5), hold(1, 10), hold(0, 10)), verdict('good', hold(1, 5), hold(0, 20))],
    fires: { from: 5, to: 19 },
  },
  {
    rule: 'SvcReleaseBad',
    title: 'nobody can tell yet how a release does, then it does well',
    series: [
      verdict('bad', hold(0, 20)),
      verdict('unclear', hold(1, 10), hold(0, 10)),
      verdict('good', hold(0, 10), hold(1, 10)),
    ],
  },
  {
    rule: 'SvcJobsMissed',
    title: 'a job missed a due time',
    series: [
      series('svc_jobs_missed_total', { job: 'tea' }, hold(4, 65), hold(5, 70)),
      series('svc_jobs_missed_total', { job: 'report' }, hold(0, 135)),
    ],
    fires: { from: 65, to: 129, labels: { job: 'tea' } },
  },
  {
    rule: 'SvcJobsMissed',
    title: 'all ran in time',
    series: [series('svc_jobs_missed_total', { job: 'tea' }, hold(4, 90))],
  },
];

const samplesOf = ({ parts }: Fed): number => parts.reduce((sum, { samples }) => sum + samples, 0);

/** Every case, with a process that runs throughout where it names none. */
export const ALERT_CASES: readonly AlertCase[] = CASES.map((given) => {
  const minutes = Math.max(...given.series.map(samplesOf)) / STEPS_A_MINUTE;
  const hasProcess = given.series.some(({ name }) => name === 'svc_build_info');
  const process = hasProcess ? [] : [runs(RUNTIME, hold(1, minutes))];
  return { runtimeId: RUNTIME, ...given, minutes, series: [...given.series, ...process] };
});

/** Values of a series at each step; undefined: none. */
export const valuesOf = ({ parts }: Fed): readonly (number | undefined)[] =>
  parts.flatMap(({ from, step, samples }) =>
    Array.from({ length: samples }, (_, at) => (from === undefined ? undefined : from + at * step)),
  );

/** The same in the notation of promtool. */
export const notationOf = ({ parts }: Fed): string =>
  parts
    .map(({ from, step, samples }) => (from === undefined ? `_x${samples}` : `${from}+${step}x${samples - 1}`))
    .join(' ');

export const firesAt = ({ fires }: AlertCase, minute: number): boolean =>
  fires !== undefined && minute >= fires.from && minute <= fires.to;
