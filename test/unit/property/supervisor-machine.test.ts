// Random sequences of events keep the promises MACHINE-1 to MACHINE-8 of the supervisor's machine, also with a window of a former life and under limits that change.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  DEFAULT_MACHINE_LIMITS,
  deadlineOf,
  type Event,
  hasRun,
  type Limits,
  type Machine,
  newMachine,
} from '../../../supervisor/machine/machine.ts';
import { step } from '../../../supervisor/machine/transition.ts';
import { ofRun } from '../../support/run-length.ts';

const LIMITS = DEFAULT_MACHINE_LIMITS;

/** What the supervisor may be told of a configuration while it runs. */
const limitsArbitrary: fc.Arbitrary<Limits> = fc.record(
  {
    starts: fc.integer({ min: 1, max: 8 }),
    spanMs: fc.integer({ min: 1_000, max: 300_000 }),
    delaysMs: fc.constantFrom([0], [0, 1_000, 4_000, 16_000], [500]),
    resetAfterMs: fc.integer({ min: 1_000, max: 300_000 }),
    upMs: fc.integer({ min: 1, max: 60_000 }),
    watchdogMs: fc.integer({ min: 1, max: 60_000 }),
    reportMs: fc.nat(2_000),
    stopMs: fc.nat(20_000),
  },
  { noNullPrototype: true },
);

/** Runs are named relative to the present one: most events are of it, some of an earlier one. */
const ago = fc.constantFrom(0, 0, 0, 0, 1);
const exitCode = fc.constantFrom(0, 1, 51, 75, 78, 130, 137, null);
const eventArbitrary = fc.oneof(
  fc.constant({ kind: 'lock_held' } as const),
  fc.constant({ kind: 'clear' } as const),
  fc.constant({ kind: 'stuck', failure: 'port', detail: '' } as const),
  fc.tuple(fc.constantFrom('up', 'progress', 'heartbeat'), ago).map(([kind, back]) => ({ kind: kind as 'up', back })),
  fc
    .tuple(fc.constantFrom(0, 51, 75), fc.boolean(), ago)
    .map(([code, switched, back]) => ({ kind: 'worker_stopping' as const, code, switched, back })),
  fc.tuple(exitCode, fc.constantFrom(undefined, undefined, undefined, 'pid 1'), ago).map(([code, beside, back]) => ({
    kind: 'exited' as const,
    exit: { code, signal: code === null ? 'SIGKILL' : null },
    detail: '',
    beside,
    back,
  })),
  ago.map((back) => ({ kind: 'address_taken' as const, detail: '', back })),
  fc
    .tuple(fc.constantFrom('EAGAIN', 'ENOENT'), ago)
    .map(([code, back]) => ({ kind: 'spawn_failed' as const, code, detail: '', back })),
  ago.map((back) => ({ kind: 'address_told' as const, back })),
  ago.map((back) => ({ kind: 'address_shared' as const, detail: '', back })),
  fc.boolean().map((now) => ({ kind: 'stop', now }) as const),
  fc.constantFrom('restart', 'start').map((kind) => ({ kind: kind as 'restart' })),
  limitsArbitrary.map((limits) => ({ kind: 'limits', limits }) as const),
  fc.constantFrom('replace', 'handed_over', 'handover_failed').map((kind) => ({ kind: kind as 'replace' })),
  fc.constant({ kind: 'clock_jump' } as const),
  fc.constant({ kind: 'tick' } as const),
  fc.constant({ kind: 'tick' } as const),
);
const lifeArbitrary = fc.array(
  fc.record({
    event: eventArbitrary,
    afterMs: fc.oneof(fc.nat(2_000), fc.nat(40_000)),
    random: fc.double({ min: 0, max: 0.999, noNaN: true }),
  }),
  { maxLength: 120 },
);

/** What a former supervisor, or the one before, left of its budget: starts of the last two minutes, and of somewhat earlier. */
const inheritedArbitrary = fc.record(
  {
    starts: fc
      .array(fc.integer({ min: -150_000, max: 0 }), { maxLength: 7 })
      .map((all) => all.toSorted((a, b) => a - b)),
    crashesInRow: fc.nat(6),
  },
  { noNullPrototype: true },
);

/** A supervisor that has its lock and nothing in its way, with that window. */
const begun = (window: Machine['window']): Machine => {
  const at = { now: 0, random: 0 };
  return step(step(newMachine(LIMITS, window), { kind: 'lock_held' }, at).machine, { kind: 'clear' }, at).machine;
};

const concrete = (machine: Machine, event: object): Event =>
  'back' in event ? ({ ...event, run: machine.run - Number(event.back) } as unknown as Event) : (event as Event);

/** An operator's new budget. */
const isCleared = ({ state }: Machine, { kind }: Event): boolean =>
  (state.kind === 'failed' && (kind === 'restart' || kind === 'start' || kind === 'replace')) ||
  (state.kind === 'deferred' && (kind === 'restart' || kind === 'start'));

/** The port of a worker that had not begun is a stranger's (WINDOW-5). */
const isTakenBack = ({ state, run }: Machine, event: Event): boolean =>
  event.kind === 'address_taken' && event.run === run && state.kind === 'starting';

const isOver = ({ state }: Machine): boolean => state.kind === 'failed' || state.kind === 'stopped';

/** A worker drains that has no successor. */
const isLeaving = ({ state }: Machine): boolean =>
  state.kind === 'draining' &&
  (state.purpose.kind === 'stop' || (state.purpose.kind === 'worker' && state.purpose.code === 0));

/** Up, not killed for silence, and ends with a code that asks for a restart. */
const isRequest = ({ state }: Machine, code: number | null): boolean =>
  (code === 51 || code === 75) &&
  (state.kind === 'running' || (state.kind === 'draining' && state.upAt !== undefined)) &&
  !(state.kind === 'draining' && (state.killed || state.purpose.kind === 'fail' || state.purpose.kind === 'replace'));

describe('the machine of the supervisor, over random lives', () => {
  it('never has two workers, never leaves the budget, and always knows what it waits for (MACHINE-2, MACHINE-3, MACHINE-5)', () => {
    fc.assert(
      fc.property(lifeArbitrary, inheritedArbitrary, (life, inherited) => {
        let machine = begun(inherited);
        let now = 0;
        let alive = machine.state.kind === 'starting';
        let starts = alive ? [...inherited.starts, 0] : [...inherited.starts];
        assert.equal(alive, inherited.starts.filter((at) => -at < LIMITS.spanMs).length < LIMITS.starts);
        for (const { event, afterMs, random } of life) {
          now += afterMs;
          const real = concrete(machine, event);
          if ((real.kind === 'exited' || real.kind === 'spawn_failed') && real.run === machine.run) {
            if (!alive) continue; // a process ends once
            alive = false;
          }
          if ((real.kind === 'up' || real.kind === 'worker_stopping') && !alive) continue;
          const before = machine;
          const { machine: after, effects } = step(machine, real, { now, random });
          machine = after;
          if (isCleared(before, real)) starts = [];
          if (isTakenBack(before, real)) starts.pop();
          for (const effect of effects) {
            if (effect.kind === 'spawn') {
              assert.equal(alive, false, 'a worker is started while another lives');
              alive = true;
              const { spanMs, starts: limit } = machine.limits;
              starts.push(now);
              assert.ok(starts.filter((at) => now - at < spanMs).length <= limit, 'more starts than the window holds');
            }
            if ('run' in effect) assert.equal(effect.run, machine.run);
          }
          assert.equal(hasRun(machine.state), alive, `${machine.state.kind} with ${alive ? 'a' : 'no'} worker`);
          const killed =
            'killed' in machine.state ? machine.state.killed : 'overdue' in machine.state && machine.state.overdue;
          if (hasRun(machine.state) && !killed) assert.notEqual(deadlineOf(machine), undefined);
        }
      }),
      { numRuns: ofRun({ short: 300, long: 1_000 }) },
    );
  });

  it('changes nothing for an event of an earlier run, nor any machine that it was given (MACHINE-4)', () => {
    fc.assert(
      fc.property(lifeArbitrary, inheritedArbitrary, (life, inherited) => {
        let machine = begun(inherited);
        let now = 0;
        for (const { event, afterMs, random } of life) {
          now += afterMs;
          const kept = structuredClone(machine);
          for (const late of life.map((other) => concrete(machine, other.event)))
            if ('run' in late) {
              const { machine: after, effects } = step(machine, { ...late, run: machine.run - 1 }, { now, random });
              assert.deepEqual([after, effects], [kept, []]);
            }
          const { machine: after } = step(machine, concrete(machine, event), { now, random });
          assert.deepEqual(machine, kept);
          machine = after;
        }
      }),
      { numRuns: 100 },
    );
  });

  it('takes new limits without a step, and keeps to them from then on', () => {
    fc.assert(
      fc.property(lifeArbitrary, limitsArbitrary, (life, limits) => {
        let machine = begun({ starts: [], crashesInRow: 0 });
        let now = 0;
        for (const { event, afterMs, random } of life) {
          now += afterMs;
          machine = step(machine, concrete(machine, event), { now, random }).machine;
          const { machine: after, effects } = step(machine, { kind: 'limits', limits }, { now, random });
          assert.deepEqual([after, effects], [{ ...machine, limits }, []]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('holds the socket only while somebody may come to serve it, and takes 51 and 75 of a worker that was up for requests (MACHINE-7, MACHINE-8)', () => {
    fc.assert(
      fc.property(lifeArbitrary, (life) => {
        let machine = step(newMachine(LIMITS), { kind: 'lock_held' }, { now: 0, random: 0 }).machine;
        let now = 0;
        for (const { event, afterMs, random } of life) {
          now += afterMs;
          const before = machine;
          const real = concrete(machine, event);
          const { machine: after, effects } = step(machine, real, { now, random });
          machine = after;
          const isReleased = effects.some(({ kind }) => kind === 'release');
          if (isOver(after) && !isOver(before)) assert.ok(isReleased, `${before.state.kind} → ${after.state.kind}`);
          if (isReleased) assert.ok(isOver(after) || isLeaving(after), `released in ${after.state.kind}`);
          if (real.kind === 'exited' && real.run === before.run && isRequest(before, real.exit.code))
            assert.ok(['starting', 'deferred', 'stopped'].includes(after.state.kind), after.state.kind);
        }
      }),
      { numRuns: ofRun({ short: 150, long: 500 }) },
    );
  });

  it('ends in stopped after stop and the end of the worker, from wherever it was (MACHINE-6)', () => {
    fc.assert(
      fc.property(lifeArbitrary, exitCode, (life, code) => {
        let machine = step(newMachine(LIMITS), { kind: 'lock_held' }, { now: 0, random: 0 }).machine;
        let now = 0;
        for (const { event, afterMs, random } of life) {
          now += afterMs;
          machine = step(machine, concrete(machine, event), { now, random }).machine;
        }
        machine = step(machine, { kind: 'stop', now: false }, { now, random: 0 }).machine;
        machine = step(
          machine,
          { kind: 'exited', run: machine.run, exit: { code, signal: null }, detail: '' },
          { now, random: 0 },
        ).machine;

        assert.equal(machine.state.kind, 'stopped');
      }),
      { numRuns: ofRun({ short: 150, long: 500 }) },
    );
  });
});
