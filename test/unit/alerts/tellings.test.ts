// Who carries what, what a message says, and the samples made of ledgers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Alert } from '../../../shared/alerts/alert-machine.ts';
import { hostRules } from '../../../shared/alerts/set-rules.ts';
import type { Telling } from '../../../shared/alerts/tell.ts';
import { carriersOf, type Target } from '../../../worker/alerts/carriers.ts';
import { expectedIn } from '../../../worker/alerts/expected.ts';
import { messageOf } from '../../../worker/alerts/message.ts';
import { seedsOf } from '../../../worker/alerts/seeds.ts';
import { plainText } from '../../../worker/sdk/message.ts';

const SINCE = Date.parse('2026-11-28T09:30:00Z');

const telling = (name: string, more: Partial<Alert> = {}, kind: Telling['kind'] = 'fired'): Telling => ({
  kind,
  alert: {
    name,
    key: Object.values(more.labels ?? {}).join(),
    labels: {},
    severity: 'warning',
    phase: 'firing',
    since: SINCE,
    firedAt: SINCE,
    quietSince: null,
    value: 3,
    told: null,
    toldAt: null,
    changes: [],
    isFlapping: false,
    ...more,
  },
});
const target = (endpoint: string, ...severities: Target['severities'][number][]): Target => ({
  endpoint,
  conversation: 'ops',
  severities,
});
const carriers = (one: Telling, targets: readonly Target[]): readonly string[] =>
  carriersOf([one], targets).map((carried) => carried.target.endpoint);

describe('the carriers of an alert', () => {
  const A = target('a', 'critical', 'warning');
  const B = target('b', 'critical');
  const C = target('c', 'warning');

  it('are others where an operator has disabled the account: its messages would wait', () => {
    const off = { ...A, isDisabled: true };
    assert.deepEqual(carriers(telling('X'), [off, C]), ['c']);
    assert.deepEqual(carriers(telling('X'), [off, B]), ['b']);
    assert.deepEqual(carriers(telling('X'), [off]), ['a']);
    assert.deepEqual(carriers(telling('X', { labels: { endpoint: 'a' } }), [off]), []);
  });

  it('are the targets of its severity', () => {
    assert.deepEqual(carriers(telling('X'), [A, B, C]), ['a', 'c']);
    assert.deepEqual(carriers(telling('X', { severity: 'critical' }), [A, B, C]), ['a', 'b']);
    assert.deepEqual(carriers(telling('X'), [B]), []);
    assert.deepEqual(carriers(telling('X'), []), []);
  });

  it('are never the account that it is about: the next one is, or none', () => {
    const about = (endpoint: string) => telling('X', { labels: { endpoint } });
    assert.deepEqual(carriers(about('a'), [A, B, C]), ['c']);
    assert.deepEqual(carriers(about('a'), [A, B]), ['b']);
    assert.deepEqual(carriers(about('c'), [B, C]), ['b']);
    assert.deepEqual(carriers(about('a'), [A, { ...A, conversation: 'other' }]), []);
    assert.deepEqual(carriers(about('z'), [A]), ['a']);
  });
});

describe('the message of alerts', () => {
  const of = {
    project: 'shop',
    runtimeId: 'r2',
    crashed: 'r1',
    rules: new Map(hostRules().map((rule) => [rule.name, rule])),
  };
  const text = (...tellings: Telling[]): string => plainText(messageOf(tellings, of).segments);

  it('says severity, summary, project, account, process, since, remedy and link', () => {
    assert.equal(
      text(telling('SvcRequiredEndpointOffline', { severity: 'critical', labels: { endpoint: 'root/irc:irc~a' } })),
      [
        'CRITICAL SvcRequiredEndpointOffline: root/irc:irc~a, which is required, is offline',
        'project shop, endpoint root/irc:irc~a, runtimeId r2, since 2026-11-28 09:30 UTC',
        'Do: svc endpoints show root/irc:irc~a says why; svc endpoints reconnect root/irc:irc~a tries at once.',
        'Runbook: svc alerts show SvcRequiredEndpointOffline',
      ].join('\n'),
    );
  });

  it('names the process that crashed', () => {
    assert.match(
      text(telling('SvcCrashLoop', { severity: 'critical' })),
      /crashed 3 times in 15 minutes\n.*runtimeId r1,/,
    );
  });

  it('puts the worst first, and counts what is too much for a conversation', () => {
    const many = Array.from({ length: 14 }, (_, n) => telling('SvcEndpointOffline', { labels: { endpoint: `e${n}` } }));
    const said = text(
      telling('SvcBacklog', { quietSince: SINCE + 60_000 }, 'resolved'),
      ...many,
      telling('SvcNotReady', { severity: 'critical' }, 'still'),
    );

    assert.match(said, /^STILL CRITICAL SvcNotReady/);
    assert.equal(said.split('WARNING SvcEndpointOffline').length - 1, 9);
    assert.match(said, /and 6 more: svc alerts$/);
  });

  it('has names that people chose as code, so none is markup or a mention', () => {
    const job = '@everyone **now** <@1>';
    const { segments } = messageOf([telling('SvcJobsMissed', { labels: { job } })], { ...of, project: '@here' });
    for (const name of [job, '@here'])
      assert.deepEqual(
        segments
          .filter((one) => 'text' in one && one.text.includes(name))
          .map((one) => ('marks' in one ? one.marks : [])),
        segments.filter((one) => 'text' in one && one.text.includes(name)).map(() => ['code']),
      );
    assert.ok(segments.every(({ kind }) => kind === 'text'));
  });
});

describe('the hour before a start', () => {
  const CRASHED = { name: 'svc_restarts_total', labels: { reason: 'crashed' } };
  const TEA = { name: 'svc_jobs_missed_total', labels: { job: 'tea' } };

  it('has a sample before each crash and one at it, back from the present count', () => {
    const seeds = seedsOf(
      [
        { series: CRASHED, value: 7 },
        { series: TEA, value: 5 },
      ],
      [
        { at: 500, series: CRASHED, by: 1 },
        { at: 900, series: CRASHED, by: 1 },
        { at: 900, series: TEA, by: 3 },
        { at: 901, series: CRASHED, by: 1 },
      ],
      0,
    );

    assert.deepEqual(
      seeds.map(({ at, readings }) => [at, ...readings.map(({ value }) => value)]),
      [
        [0, 4, 2],
        [499, 4, 2],
        [500, 5, 2],
        [899, 5, 2],
        [900, 6, 5],
        [901, 7, 5],
      ],
    );
  });
});

describe('what the steps of a release cause', () => {
  const at = (state: 'begun' | 'observing', hours: number) =>
    expectedIn(
      { state, steps: [{ state, at: '2026-11-28T00:00:00Z', actor: 'x' }] },
      Date.parse('2026-11-28T00:00:00Z') + hours * 3_600_000,
    );

  it('is expected until ingress is open again, for four hours at most', () => {
    assert.ok(at('begun', 1).has('SvcPausedLong'));
    assert.ok(!at('begun', 1).has('SvcNotReady'));
    assert.equal(at('begun', 5).size, 0);
    assert.equal(at('observing', 1).size, 0);
    assert.equal(expectedIn(undefined, 0).size, 0);
  });
});
