// The one table of alert rules. `svc alerts` evaluates it in the host; `alerts.yml` for Prometheus is written from it.
//
//   ALERT-1  A rule keeps only labels that stay while its cause lasts. A label that changes, such as `runtime_id`, would begin `for` anew.
//   ALERT-2  Every series that an active rule reads is exported by a host. `waitsFor` marks rules whose figures are still to come.
import type { Comparison, Rule, Series } from './rule.ts';

const series = (name: string, where?: Series['where']): Series => (where === undefined ? { name } : { name, where });
const above = (name: string, threshold: number): Comparison => ({ sum: [series(name)], is: 'above', threshold });
const below = (name: string, threshold: number): Comparison => ({ sum: [series(name)], is: 'below', threshold });

const OFFLINE = below('svc_endpoint_online', 1);
const ENABLED = above('svc_endpoint_enabled', 0);
const CRASHES = series('svc_restarts_total', { reason: ['crashed'] });

export const RULES: readonly Rule[] = [
  {
    name: 'SvcDown',
    severity: 'critical',
    for: '2m',
    shape: { kind: 'prometheus', expression: 'up{job="svc"} == 0 or probe_success{job="svc-probe"} == 0' },
    labels: [],
    mutes: '*',
    summary: 'the host does not answer',
    description:
      'Neither the metrics nor the health of the host could be read for two minutes. Nothing is received, handled or sent.',
    remedy: 'Read the log of the owner (`svc service logs`, or of the container), then `svc runtime status`.',
  },
  {
    name: 'SvcNotReady',
    severity: 'critical',
    for: '5m',
    shape: { kind: 'gauge', ...below('svc_ready', 1) },
    labels: [],
    summary: 'the host is not ready',
    description:
      'The host answers, but a check of its readiness is unmet. It takes in or handles nothing, or a required account is missing.',
    remedy: '`svc doctor --live URL` names the unmet check and its remedy.',
  },
  {
    name: 'SvcCrashed',
    severity: 'warning',
    for: '0s',
    shape: { kind: 'increase', of: CRASHES, window: '15m', threshold: 0 },
    labels: [],
    summary: 'the worker crashed and was started again',
    description: 'A worker ended without being asked to. Work under way at that moment is repeated.',
    remedy:
      '`svc runtime status` shows the last ends with their last lines; `.svc/reports/` has a report of a blocked loop.',
  },
  {
    name: 'SvcCrashLoop',
    severity: 'critical',
    for: '0s',
    shape: { kind: 'increase', of: CRASHES, window: '15m', threshold: 2 },
    labels: [],
    mutes: 'SvcCrashed',
    summary: 'the worker crashed {value} times in 15 minutes',
    description: 'The worker crashes again after each start. An owner stops trying after a number of crashes.',
    remedy:
      'Roll back (`svc release rollback`), or disable the plugin that the last lines of `svc runtime status` name.',
  },
  {
    name: 'SvcEndpointOffline',
    severity: 'warning',
    for: '10m',
    shape: { kind: 'gauge', ...OFFLINE, and: [ENABLED] },
    labels: ['endpoint'],
    summary: '{endpoint} is offline',
    description:
      'The account is enabled and has no connection. Its messages wait at the platform or are lost there; its sends wait in the outbox.',
    remedy: '`svc endpoints show {endpoint}` says why; `svc endpoints reconnect {endpoint}` tries at once.',
  },
  {
    name: 'SvcRequiredEndpointOffline',
    severity: 'critical',
    for: '5m',
    shape: { kind: 'gauge', ...OFFLINE, and: [ENABLED, above('svc_endpoint_required', 0)] },
    labels: ['endpoint'],
    mutes: 'SvcEndpointOffline',
    summary: '{endpoint}, which is required, is offline',
    description:
      'An account of `http.readiness.endpoints` has no connection. Its messages wait at the platform or are lost there.',
    remedy: '`svc endpoints show {endpoint}` says why; `svc endpoints reconnect {endpoint}` tries at once.',
  },
  {
    name: 'SvcStreamGaps',
    severity: 'warning',
    for: '0s',
    shape: {
      kind: 'increase',
      of: series('svc_sse_gaps_total', { reason: ['expired', 'slow_consumer'] }),
      window: '15m',
      threshold: 0,
    },
    labels: [],
    summary: 'a client of the event stream missed events',
    description:
      'A client was too slow, or came back after the history it needed was deleted. It was told so by a gap.',
    remedy: 'Look for the slow client; raise `events.history` so that a longer absence is bridged.',
  },
  {
    name: 'SvcErrors',
    severity: 'warning',
    for: '5m',
    shape: {
      kind: 'increase',
      of: series('svc_log_messages_total', { level: ['error', 'fatal'] }),
      window: '10m',
      threshold: 20,
    },
    labels: [],
    summary: '{value} errors were logged in 10 minutes',
    description: 'The log has more errors than usual. Each line names its plugin or account.',
    remedy: '`svc runtime logs --level error --since 15m`',
  },
  {
    name: 'SvcDiskLow',
    severity: 'critical',
    for: '5m',
    shape: { kind: 'gauge', ...below('svc_disk_free_bytes', 2), times: series('svc_disk_min_free_bytes') },
    labels: [],
    summary: 'the disk has less than twice the room that the host needs',
    description: 'Free room nears `disk.minFreeBytes`. Below that bound the host takes nothing in.',
    remedy: 'Make room on the file system of `.svc/`: old checkpoints, logs, files of others.',
  },
  {
    name: 'SvcStateLarge',
    severity: 'warning',
    for: '30m',
    shape: { kind: 'gauge', ...above('svc_state_bytes', 0.8), times: series('svc_state_limit_bytes') },
    labels: [],
    summary: 'the state uses more than 80 % of its limit',
    description: 'The state nears `disk.maxBytes`. Beyond that limit the host takes nothing in.',
    remedy: 'Shorten `inbox.bodyDays`, `outbox.days` or `events.history`, or raise `disk.maxBytes`.',
  },
  {
    name: 'SvcWorkBlocked',
    severity: 'warning',
    for: '10m',
    shape: {
      kind: 'gauge',
      ...above('svc_workroom_blocked_oldest_seconds', 86_400),
      or: above('svc_workroom_overdue', 0),
    },
    labels: ['board'],
    summary: 'work of board {board} is blocked or overdue',
    description: 'An item of the Workroom is past a deadline, or was blocked for a day.',
    remedy: '`svc workroom list --state blocked --board {board}` lists it with whom it waits for.',
  },
  {
    name: 'SvcJournalDamaged',
    severity: 'critical',
    for: '1m',
    shape: { kind: 'gauge', ...below('svc_workroom_journal_ok', 1) },
    labels: [],
    summary: 'the journal of the Workroom does not prove',
    description: 'The last proof of the hash chain found a fault: an event was changed, is missing, or cannot be read.',
    remedy: '`svc workroom verify` names the place; restore from the newest checkpoint that verifies.',
  },
  {
    name: 'SvcRunsFailing',
    severity: 'warning',
    for: '0s',
    shape: {
      kind: 'ratio',
      of: series('svc_agent_runs_total', { outcome: ['failed', 'cancelled'] }),
      all: series('svc_agent_runs_total'),
      windows: ['1h'],
      threshold: 0.3,
      least: 5,
    },
    labels: ['binding'],
    waitsFor: 'agents',
    summary: '{value} of the runs of {binding} failed within an hour',
    description: 'Runs of the agent fail or are cancelled: its provider, its key or its limits.',
    remedy: 'Read the last runs of {binding}: provider, key, limits.',
  },
  {
    name: 'SvcMessagesDying',
    severity: 'critical',
    for: '0s',
    shape: {
      kind: 'ratio',
      of: series('svc_inbox_handled_total', { outcome: ['dead'] }),
      all: series('svc_inbox_handled_total', { outcome: ['done', 'dead'] }),
      windows: ['1h', '5m'],
      threshold: 0.072,
      least: 20,
    },
    labels: [],
    mutes: 'SvcDeadLetters',
    summary: '{value} of the messages die',
    description:
      'More messages end as dead letters than a budget of 0.5 % bears (burn rate 14.4), over an hour and over the last five minutes.',
    remedy: '`svc inbox list --causes` groups them by cause.',
  },
  {
    name: 'SvcDeadLetters',
    severity: 'warning',
    for: '15m',
    shape: {
      kind: 'gauge',
      sum: [series('svc_inbox_dead'), series('svc_outbox_dead')],
      is: 'above',
      threshold: 0,
    },
    labels: [],
    summary: '{value} dead letters wait for a decision',
    description:
      'Messages could not be handled, or sends did not go out, or nobody knows of a send. They stay until somebody decides.',
    remedy: '`svc inbox list --causes`, `svc outbox list --causes`: replay or drop.',
  },
  {
    name: 'SvcBacklog',
    severity: 'warning',
    for: '5m',
    shape: { kind: 'gauge', ...above('svc_inbox_oldest_seconds', 600), unless: above('svc_ingress_paused', 0) },
    labels: [],
    summary: 'the oldest message has waited for more than 10 minutes',
    description: 'Handlers are slower than messages come in, or one of them hangs.',
    remedy: '`svc inbox list` shows what waits; look for the slow handler, or raise `inbox.concurrency`.',
  },
  {
    name: 'SvcPausedLong',
    severity: 'warning',
    for: '2h',
    shape: { kind: 'gauge', ...above('svc_ingress_paused', 0) },
    labels: [],
    summary: 'ingress is paused for more than two hours',
    description: 'Messages are parked or rejected since an operator paused ingress.',
    remedy: '`svc ingress status` says who paused it and why; `svc ingress resume` opens it.',
  },
  {
    name: 'SvcCheckpointOld',
    severity: 'warning',
    for: '15m',
    shape: { kind: 'gauge', ...above('svc_checkpoint_age_seconds', 93_600) },
    labels: [],
    summary: 'the newest checkpoint is older than 26 hours',
    description: 'A restore would lose more than a day. Without any checkpoint the age is that of the project.',
    remedy: '`svc checkpoint create`; `svc checkpoint list` says why the last one failed.',
  },
  {
    name: 'SvcCheckpointUnverified',
    severity: 'warning',
    for: '1h',
    shape: { kind: 'gauge', ...above('svc_checkpoint_verified_seconds', 691_200) },
    labels: [],
    summary: 'no checkpoint was verified for more than eight days',
    description: 'Nobody knows whether a restore would succeed.',
    remedy: '`svc checkpoint list` has the names; `svc checkpoint verify NAME` rehearses a restore of the newest one.',
  },
  {
    // A warning: what serves is not harmed, and an older checkpoint may be good. Where none is, SvcCheckpointUnverified follows.
    name: 'SvcCheckpointFailed',
    severity: 'warning',
    for: '0s',
    shape: { kind: 'gauge', ...above('svc_checkpoint_failed', 0) },
    labels: [],
    summary: 'the checkpoint that was rehearsed last cannot be relied on',
    description: 'A restore from it would fail, or would have to be mended before the host starts.',
    remedy:
      '`svc checkpoint list` names it with its fault, and the newest one that is good. Mend the fault, `svc checkpoint create`, then `svc checkpoint verify NAME` with the new name.',
  },
  {
    // Critical: people are affected now, and each minute until the rollback makes it lose more.
    name: 'SvcReleaseBad',
    severity: 'critical',
    for: '0s',
    shape: {
      kind: 'gauge',
      sum: [series('svc_release_verdict', { verdict: ['bad'] })],
      is: 'above',
      threshold: 0,
    },
    labels: [],
    summary: 'the released version does badly',
    description:
      'Since ingress was opened for the new version it crashed, was not ready, lost a required account, or ends more work badly than the version before.',
    remedy: '`svc release status` says by which sign; `svc release rollback` goes back to the version before.',
  },
  {
    name: 'SvcJobsMissed',
    severity: 'warning',
    for: '0s',
    shape: { kind: 'increase', of: series('svc_jobs_missed_total'), window: '1h', threshold: 0 },
    labels: ['job'],
    summary: 'job {job} missed a due time',
    description: 'The host was down, held or too busy when the job was due, and the job does not catch up.',
    remedy: '`svc jobs history {job}` shows the missed due times and runs.',
  },
];

/** Rules whose figures exist. */
export const ACTIVE_RULES: readonly Rule[] = RULES.filter(({ waitsFor }) => waitsFor === undefined);
