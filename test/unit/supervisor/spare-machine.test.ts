// The spare worker's machine, and what holds over any sequence of its events.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { DrainPurpose, State } from '../../../supervisor/machine/machine.ts';
import {
  NO_SPARE,
  type SpareEffect,
  type SpareEvent,
  type SpareFacts,
  type SpareState,
  stepSpare,
} from '../../../supervisor/machine/spare-machine.ts';

const NOW = 10_000;
const LOADING: SpareState = { kind: 'loading', failures: 0 };
const READY: SpareState = { kind: 'ready', failures: 0 };
const PAUSED: SpareState = { kind: 'none', notBefore: NOW + 500, failures: 1 };

const upFor = (ms: number): State => ({ kind: 'running', upAt: NOW - ms, heardAt: NOW });
const draining = (purpose: DrainPurpose): State => ({
  kind: 'draining',
  upAt: 0,
  deadline: NOW,
  killed: false,
  purpose,
});
const SETTLED = upFor(1_000);
const STATES: Readonly<Record<string, State>> = {
  locking: { kind: 'locking' },
  checking: { kind: 'checking' },
  starting: { kind: 'starting', deadline: NOW, overdue: false },
  'not settled': upFor(999),
  hung: { kind: 'hung', upAt: 0, deadline: NOW, killed: false },
  'draining to restart': draining({ kind: 'restart' }),
  'draining by itself': draining({ kind: 'worker', code: 51 }),
  'backing off': { kind: 'backing_off', until: NOW },
  deferred: { kind: 'deferred', until: NOW },
};
/** No worker is to come back, or not to this supervisor. */
const OVER: Readonly<Record<string, State>> = {
  stopped: { kind: 'stopped', code: 0 },
  failed: { kind: 'failed', failure: 'storm', detail: '' },
  'draining to stop': draining({ kind: 'stop' }),
  'draining to be replaced': draining({ kind: 'replace' }),
  'draining to fail': draining({ kind: 'fail', failure: 'port', detail: '' }),
};

const look = (state: State, isOn = true): SpareEvent => ({ kind: 'look', isOn, state });
const asked = (facts: Partial<SpareFacts> = {}): SpareEvent => ({
  kind: 'asked',
  hasEnded: false,
  isStopped: false,
  isOutdated: false,
  ...facts,
});
const ended = (code: number | null): SpareEvent => ({ kind: 'worker_ended', code });

type Row = readonly [string, SpareState, SpareEvent, string, SpareEffect | undefined];

const TABLE: readonly Row[] = [
  ['none: the worker has settled (SPARE-4)', NO_SPARE, look(SETTLED), 'loading', 'start'],
  ['none: it has, but there is to be no spare', NO_SPARE, look(SETTLED, false), 'none', undefined],
  ['none: it has, but in a pause (SPARE-1)', PAUSED, look(SETTLED), 'none', undefined],
  ['none: a start asks', NO_SPARE, asked(), 'none', undefined],
  ['loading: it waits', LOADING, { kind: 'ready' }, 'ready', undefined],
  ['loading: ends by itself', LOADING, { kind: 'ended' }, 'none', undefined],
  ['loading: a start asks', LOADING, asked(), 'none', 'give'],
  ['ready: the worker has settled', READY, look(SETTLED), 'ready', undefined],
  ['ready: there is to be none any more (SPARE-2)', READY, look(SETTLED, false), 'none', 'end'],
  ['ready: a start asks (SPARE-3)', READY, asked(), 'none', 'give'],
  ['ready: a start asks, but it is stopped (SPARE-3)', READY, asked({ isStopped: true }), 'none', 'end'],
  [
    'ready: a start asks, but the program is another by now (SPARE-3)',
    READY,
    asked({ isOutdated: true }),
    'none',
    'end',
  ],
  [
    'ready: a start asks, but it has ended (SPARE-3)',
    READY,
    asked({ hasEnded: true, isOutdated: true }),
    'ready',
    undefined,
  ],
  ['ready: the log is another file by now (SPARE-2)', READY, { kind: 'log_moved' }, 'none', 'end'],
  ['ready: the worker ended with 75, so that its program has changed (SPARE-2)', READY, ended(75), 'none', 'end'],
  ...[0, 1, 51, 78, null].map(
    (code): Row => [`ready: the worker ended with ${code ?? 'a signal'}`, READY, ended(code), 'ready', undefined],
  ),
  ...Object.entries(STATES).flatMap(([name, state]): Row[] => [
    [`none: ${name}`, NO_SPARE, look(state), 'none', undefined],
    [`ready: ${name}`, READY, look(state), 'ready', undefined],
  ]),
  ...Object.entries(OVER).flatMap(([name, state]): Row[] => [
    [`none: ${name}`, NO_SPARE, look(state), 'none', undefined],
    [`ready: ${name} (SPARE-2)`, READY, look(state), 'none', 'end'],
  ]),
];

describe('the machine of the spare', () => {
  for (const [title, before, event, kind, effect] of TABLE) {
    it(title, () => {
      const after = stepSpare(before, event, NOW);

      assert.deepEqual([after.spare.kind, after.effect], [kind, effect]);
    });
  }

  it('pauses 5, 10, 20 s up to five minutes between spares that end by themselves (SPARE-1)', () => {
    const pauses: number[] = [];
    let spare: SpareState = NO_SPARE;
    for (let n = 0; n < 9; n += 1) {
      spare = stepSpare({ kind: 'loading', failures: spare.failures }, { kind: 'ended' }, 0).spare;
      if (spare.kind === 'none') pauses.push(spare.notBefore / 1_000);
    }

    assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('never starts a second one, and leaves none behind that nobody wants (SPARE-2)', () => {
    const event: fc.Arbitrary<SpareEvent> = fc.oneof(
      fc.record({
        kind: fc.constant('look' as const),
        isOn: fc.boolean(),
        state: fc.constantFrom(SETTLED, ...Object.values(STATES), ...Object.values(OVER)),
      }),
      fc.record({
        kind: fc.constant('asked' as const),
        hasEnded: fc.boolean(),
        isStopped: fc.boolean(),
        isOutdated: fc.boolean(),
      }),
      fc.constantFrom(0, 51, 75, null).map(ended),
      fc.constantFrom('ready', 'ended', 'log_moved').map((kind) => ({ kind: kind as 'ready' })),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.nat(400_000))), (life) => {
        let spare: SpareState = NO_SPARE;
        let isThere = false;
        let now = NOW;
        for (const [next, afterMs] of life) {
          now += afterMs;
          const { spare: after, effect } = stepSpare(spare, next, now);
          if (effect === 'start') assert.equal(isThere, false);
          if (effect === 'start') isThere = true;
          if (effect === 'give') {
            assert.ok(isThere && next.kind === 'asked');
            assert.ok(!next.hasEnded && !next.isStopped && !next.isOutdated);
          }
          if (effect === 'end' || effect === 'give' || next.kind === 'ended') isThere = false;
          spare = after;
          assert.equal(spare.kind !== 'none', isThere);
        }
      }),
    );
  });
});
