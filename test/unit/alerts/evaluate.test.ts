// Each rule of the table with a case in which it is true and one in which it is not; windows that are not covered, counters that begin anew.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluate, unreadOf, type Verdict } from '../../../shared/alerts/evaluate.ts';
import type { Labels, Reading, Sample } from '../../../shared/alerts/history.ts';
import { seriesOf } from '../../../shared/alerts/rule.ts';
import { RULES } from '../../../shared/alerts/rules.ts';
import { hostRules } from '../../../shared/alerts/set-rules.ts';
import { Recent } from '../../../worker/metrics/recent.ts';

type Figures = Readonly<Record<string, number>>;

/** `name` or `name{label=value}`. */
function readings(figures: Figures): readonly Reading[] {
  return Object.entries(figures).map(([text, value]) => {
    const [, name = '', inner = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(text) ?? [];
    const labels: Labels = Object.fromEntries(inner === '' ? [] : inner.split(',').map((pair) => pair.split('=')));
    return { name, labels, value };
  });
}

const sampleOf = (all: readonly Reading[]): Sample => ({ readings: all, unread: [] });

/** Samples a minute apart, the last one now. */
function recentOf(samples: readonly Figures[]): Recent {
  const recent = new Recent();
  samples.forEach((figures, minute) => recent.add(minute * 60_000, sampleOf(readings(figures))));
  return recent;
}

const found = (name: string, samples: readonly Figures[]): Readonly<Record<string, Verdict>> | 'unknown' => {
  const rule = RULES.find((one) => one.name === name);
  assert.ok(rule !== undefined, name);
  const { found: all, isUnknown } = evaluate(rule, recentOf(samples));
  return all.size === 0 && isUnknown
    ? 'unknown'
    : Object.fromEntries([...all].map(([key, { verdict }]) => [key, verdict]));
};

const ACCOUNT = '{endpoint=a}';
const offline = (more: Figures): Figures => ({
  [`svc_endpoint_online${ACCOUNT}`]: 0,
  [`svc_endpoint_enabled${ACCOUNT}`]: 1,
  [`svc_endpoint_required${ACCOUNT}`]: 0,
  ...more,
});
/** An hour of minutes in which a counter grows at the end. */
const hour = (before: Figures, now: Figures): readonly Figures[] => [...Array<Figures>(60).fill(before), now];
const handled = (done: number, dead: number): Figures => ({
  'svc_inbox_handled_total{endpoint=a,outcome=done}': done,
  'svc_inbox_handled_total{endpoint=a,outcome=dead}': dead,
  'svc_inbox_handled_total{endpoint=a,outcome=waiting}': 1_000,
});
const crashed = (count: number): Figures => ({
  'svc_restarts_total{reason=crashed}': count,
  'svc_restarts_total{reason=stopped}': 90 + count,
});

/** By rule: samples in which it is true, the keys that it then has, and samples in which it is false. */
const TABLE: Readonly<Record<string, readonly [readonly Figures[], readonly string[], readonly Figures[]]>> = {
  SvcNotReady: [[{ svc_ready: 0 }], [''], [{ svc_ready: 1 }]],
  SvcCrashed: [hour(crashed(4), crashed(5)), [''], hour(crashed(5), crashed(5))],
  SvcCrashLoop: [hour(crashed(4), crashed(7)), [''], hour(crashed(4), crashed(6))],
  SvcEndpointOffline: [[offline({})], ['a'], [offline({ [`svc_endpoint_enabled${ACCOUNT}`]: 0 })]],
  SvcRequiredEndpointOffline: [[offline({ [`svc_endpoint_required${ACCOUNT}`]: 1 })], ['a'], [offline({})]],
  SvcStreamGaps: [
    hour({ 'svc_sse_gaps_total{reason=expired}': 0 }, { 'svc_sse_gaps_total{reason=expired}': 1 }),
    [''],
    hour(
      { 'svc_sse_gaps_total{reason=ahead}': 0, 'svc_sse_gaps_total{reason=expired}': 0 },
      { 'svc_sse_gaps_total{reason=ahead}': 9, 'svc_sse_gaps_total{reason=expired}': 0 },
    ),
  ],
  SvcErrors: [
    hour(
      { 'svc_log_messages_total{level=error}': 0, 'svc_log_messages_total{level=fatal}': 0 },
      { 'svc_log_messages_total{level=error}': 20, 'svc_log_messages_total{level=fatal}': 1 },
    ),
    [''],
    hour({ 'svc_log_messages_total{level=error}': 0 }, { 'svc_log_messages_total{level=error}': 20 }),
  ],
  SvcDiskLow: [
    [{ svc_disk_free_bytes: 199, svc_disk_min_free_bytes: 100 }],
    [''],
    [{ svc_disk_free_bytes: 200, svc_disk_min_free_bytes: 100 }],
  ],
  SvcStateLarge: [
    [{ svc_state_bytes: 81, svc_state_limit_bytes: 100 }],
    [''],
    [{ svc_state_bytes: 80, svc_state_limit_bytes: 100 }],
  ],
  SvcWorkBlocked: [
    [
      {
        'svc_workroom_overdue{board=web}': 1,
        'svc_workroom_overdue{board=app}': 0,
        'svc_workroom_overdue{board=ops}': 0,
        'svc_workroom_blocked_oldest_seconds{board=web}': 0,
        'svc_workroom_blocked_oldest_seconds{board=app}': 86_401,
        'svc_workroom_blocked_oldest_seconds{board=ops}': 86_400,
      },
    ],
    ['app', 'web'],
    [{ 'svc_workroom_overdue{board=web}': 0, 'svc_workroom_blocked_oldest_seconds{board=web}': 3_600 }],
  ],
  SvcJournalDamaged: [[{ svc_workroom_journal_ok: 0 }], [''], [{ svc_workroom_journal_ok: 1 }]],
  SvcMessagesDying: [
    [...Array<Figures>(57).fill(handled(0, 0)), handled(10, 2), handled(15, 3), handled(17, 4), handled(18, 5)],
    [''],
    [...Array<Figures>(57).fill(handled(0, 0)), handled(10, 2), handled(13, 3), handled(13, 4), handled(14, 5)],
  ],
  SvcDeadLetters: [[{ svc_inbox_dead: 0, svc_outbox_dead: 1 }], [''], [{ svc_inbox_dead: 0, svc_outbox_dead: 0 }]],
  SvcBacklog: [
    [{ svc_inbox_oldest_seconds: 601, svc_ingress_paused: 0 }],
    [''],
    [{ svc_inbox_oldest_seconds: 600, svc_ingress_paused: 0 }],
  ],
  SvcPausedLong: [[{ svc_ingress_paused: 1 }], [''], [{ svc_ingress_paused: 0 }]],
  SvcCheckpointOld: [[{ svc_checkpoint_age_seconds: 93_601 }], [''], [{ svc_checkpoint_age_seconds: 93_600 }]],
  SvcCheckpointUnverified: [
    [{ svc_checkpoint_verified_seconds: 691_201 }],
    [''],
    [{ svc_checkpoint_verified_seconds: 691_200 }],
  ],
  SvcCheckpointFailed: [[{ svc_checkpoint_failed: 1 }], [''], [{ svc_checkpoint_failed: 0 }]],
  SvcReleaseBad: [
    [{ 'svc_release_verdict{verdict=bad}': 1, 'svc_release_verdict{verdict=good}': 0 }],
    [''],
    [{ 'svc_release_verdict{verdict=bad}': 0, 'svc_release_verdict{verdict=good}': 1 }],
  ],
  SvcJobsMissed: [
    hour(
      { 'svc_jobs_missed_total{job=tea}': 3, 'svc_jobs_missed_total{job=nap}': 1 },
      { 'svc_jobs_missed_total{job=tea}': 4, 'svc_jobs_missed_total{job=nap}': 1 },
    ),
    ['tea'],
    hour({ 'svc_jobs_missed_total{job=tea}': 3 }, { 'svc_jobs_missed_total{job=tea}': 3 }),
  ],
};

describe('the rules', () => {
  it('have a case each', () => {
    assert.deepEqual(
      Object.keys(TABLE),
      hostRules().map(({ name }) => name),
    );
  });

  for (const [name, [fires, keys, quiet]] of Object.entries(TABLE))
    it(`${name} is true and false where it should be`, () => {
      assert.deepEqual(Object.keys(found(name, fires)).toSorted(), [...keys]);
      assert.deepEqual(found(name, quiet), {});
    });

  it('are false for a figure that is not there', () => {
    for (const { name, shape } of hostRules())
      if (shape.kind === 'gauge') assert.deepEqual(found(name, [{ other: 1 }]), {}, name);
    assert.deepEqual(found('SvcDeadLetters', [{ svc_outbox_dead: 4 }]), {});
    assert.deepEqual(found('SvcDiskLow', [{ svc_disk_free_bytes: 1 }]), {});
  });

  it('say nothing of the backlog while ingress is paused', () => {
    assert.deepEqual(found('SvcBacklog', [{ svc_inbox_oldest_seconds: 9_000, svc_ingress_paused: 1 }]), { '': 'held' });
  });
});

describe('a figure that cannot be read', () => {
  const seen = (name: string, samples: readonly Figures[], ...unread: readonly string[]) => {
    const rule = RULES.find((one) => one.name === name);
    assert.ok(rule !== undefined, name);
    const recent = recentOf(samples);
    recent.add(samples.length * 60_000, { readings: [], unread });
    const { found: all, isUnknown } = evaluate(rule, recent);
    return { keys: [...all.keys()], isUnknown, unread: unreadOf(rule, recent) };
  };

  it('makes each of its rules unknown, and no other', () => {
    for (const rule of hostRules()) {
      const names = [...new Set(seriesOf(rule).map(({ name }) => name))];
      for (const name of names)
        assert.deepEqual(
          seen(rule.name, hour({}, {}), name),
          { keys: [], isUnknown: true, unread: [name] },
          `${rule.name} without ${name}`,
        );
      assert.deepEqual(seen(rule.name, hour({}, {}), 'svc_other').unread, [], rule.name);
    }
  });

  it('makes a window unknown that was covered until then, unless what it saw is enough', () => {
    const covered = hour(crashed(4), crashed(4));
    assert.deepEqual(seen('SvcCrashed', covered), { keys: [], isUnknown: false, unread: [] });
    assert.equal(seen('SvcCrashed', covered, 'svc_restarts_total').isUnknown, true);
    assert.deepEqual(seen('SvcCrashed', hour(crashed(4), crashed(5)), 'svc_restarts_total').keys, ['']);
  });

  it('leaves open whether a backlog is held', () => {
    const { found: all, isUnknown } = (() => {
      const rule = RULES.find(({ name }) => name === 'SvcBacklog');
      assert.ok(rule !== undefined);
      const recent = new Recent();
      recent.add(0, { readings: readings({ svc_inbox_oldest_seconds: 9_000 }), unread: ['svc_ingress_paused'] });
      return evaluate(rule, recent);
    })();
    assert.deepEqual([all.size, isUnknown], [0, true]);
  });
});

describe('a window', () => {
  const errors = (counts: readonly number[]): readonly Figures[] =>
    counts.map((count) => ({ 'svc_log_messages_total{level=error}': count }));

  it('that is not covered is unknown, unless what was seen is enough', () => {
    assert.equal(found('SvcErrors', errors([0])), 'unknown');
    assert.equal(found('SvcErrors', errors([0, 5, 9])), 'unknown');
    assert.deepEqual(found('SvcErrors', errors([0, 5, 25])), { '': 'true' });
    assert.deepEqual(found('SvcErrors', errors([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9])), {});
    assert.equal(found('SvcMessagesDying', [handled(0, 0), handled(100, 0)]), 'unknown');
  });

  it('adds what a counter shows after it began anew', () => {
    assert.deepEqual(found('SvcErrors', errors([90, 95, 100, 3, 8, 12])), { '': 'true' }); // 5 + 5 + 3 + 5 + 4
    assert.equal(found('SvcErrors', errors([90, 95, 100, 3, 8])), 'unknown');
  });

  it('goes on over samples in which the figure is missing', () => {
    const gap = [...errors([0, 1]), ...Array.from({ length: 7 }, (): Figures => ({ other: 1 })), ...errors([25, 25])];
    assert.deepEqual(found('SvcErrors', gap), { '': 'true' });
  });

  it('does not see what is older', () => {
    assert.deepEqual(found('SvcErrors', errors([0, 50, ...Array<number>(11).fill(50)])), {});
  });
});

describe('samples', () => {
  it('of an hour are kept, and begin anew where the clock is set back', () => {
    const recent = new Recent();
    for (let at = 0; at <= 7_200_000; at += 30_000) recent.add(at, sampleOf([{ name: 'a', labels: {}, value: at }]));
    assert.equal(recent.times.length, 123);
    assert.equal(recent.times[0], 7_200_000 - 3_660_000);
    assert.equal(recent.of('a')[0]?.values.length, 123);
    recent.add(3_000_000, sampleOf([{ name: 'a', labels: {}, value: 1 }]));
    assert.deepEqual([...recent.times], [3_000_000]);
    assert.deepEqual(recent.of('a')[0]?.values, [1]);
  });

  it('are of 1,000 series at most, and forget those that are gone', () => {
    const recent = new Recent();
    const of = (prefix: string) =>
      sampleOf(
        Array.from({ length: 1_100 }, (_, n) => ({ name: 'a', labels: { endpoint: `${prefix}${n}` }, value: n })),
      );
    assert.equal(recent.add(0, of('x')), 100);
    assert.equal(recent.add(30_000, of('y')), 1_100);
    assert.equal(recent.add(3_700_000, of('y')), 1_100); // the old ones leave with this sample
    assert.equal(recent.add(3_730_000, of('y')), 100);
    assert.equal(recent.of('a').length, 1_000);
  });

  it('of the whole host are kept beside those of more accounts than fit', () => {
    const recent = new Recent();
    const accounts = Array.from({ length: 1_100 }, (_, n) => ({ name: 'a', labels: { endpoint: `x${n}` }, value: n }));
    assert.equal(recent.add(0, sampleOf([...accounts, { name: 'svc_inbox_dead', labels: {}, value: 7 }])), 101);
    assert.deepEqual(recent.of('svc_inbox_dead')[0]?.values, [7]);
  });
});
