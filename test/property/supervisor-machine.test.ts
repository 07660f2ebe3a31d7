// Random sequences of events keep the promises S1-S8 of the supervisor's machine.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  DEFAULT_MACHINE_LIMITS,
  deadlineOf,
  type Event,
  hasRun,
  type Machine,
  newMachine,
} from '../../supervisor/machine.ts';
import { step } from '../../supervisor/transition.ts';

const LIMITS = DEFAULT_MACHINE_LIMITS;

/** Runs are named relative to the present one: most events are of it, some of an earlier one. */
const ago = fc.constantFrom(0, 0, 0, 0, 1);
const exitCode = fc.constantFrom(0, 1, 51, 75, 78, 130, 137, null);
const eventArbitrary = fc.oneof(
  fc.constant({ kind: 'lock_held' } as const),
  fc.constant({ kind: 'clear' } as const),
  fc.constant({ kind: 'stuck', failure: 'port', detail: '' } as const),
  fc.tuple(fc.constantFrom('up', 'progress', 'heartbeat'), ago).map(([kind, back]) => ({ kind: kind as 'up', back })),
  fc.tuple(fc.constantFrom(0, 51, 75), ago).map(([code, back]) => ({ kind: 'worker_stopping' as const, code, back })),
  fc.tuple(exitCode, ago).map(([code, back]) => ({
    kind: 'exited' as const,
    exit: { code, signal: code === null ? 'SIGKILL' : null },
    detail: '',
    back,
  })),
  ago.map((back) => ({ kind: 'address_taken' as const, detail: '', back })),
  fc.tuple(fc.boolean(), ago).map(([passing, back]) => ({ kind: 'spawn_failed' as const, passing, detail: '', back })),
  ago.map((back) => ({ kind: 'address_shared' as const, detail: '', back })),
  fc.boolean().map((now) => ({ kind: 'stop', now }) as const),
  fc.constant({ kind: 'restart' } as const),
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

const concrete = (machine: Machine, event: object): Event =>
  'back' in event ? ({ ...event, run: machine.run - Number(event.back) } as unknown as Event) : (event as Event);

/** An operator's new budget. */
const isCleared = ({ state }: Machine, { kind }: Event): boolean =>
  (state.kind === 'failed' && (kind === 'restart' || kind === 'replace')) ||
  (state.kind === 'deferred' && kind === 'restart');

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
  it('never has two workers, never leaves the budget, and always knows what it waits for (S2, S3, S5)', () => {
    fc.assert(
      fc.property(lifeArbitrary, (life) => {
        let machine = step(
          step(newMachine(LIMITS), { kind: 'lock_held' }, { now: 0, random: 0 }).machine,
          { kind: 'clear' },
          { now: 0, random: 0 },
        ).machine;
        let now = 0;
        let alive = true;
        let starts = [0];
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
          for (const effect of effects) {
            if (effect.kind === 'spawn') {
              assert.equal(alive, false, 'a worker is started while another lives');
              alive = true;
              starts = [...starts.filter((at) => now - at < LIMITS.spanMs), now];
              assert.ok(starts.length <= LIMITS.starts, 'more starts than the window holds');
            }
            if (effect.kind === 'kill' || effect.kind === 'ask_stop') assert.equal(effect.run, machine.run);
          }
          assert.equal(hasRun(machine.state), alive, `${machine.state.kind} with ${alive ? 'a' : 'no'} worker`);
          const killed =
            'killed' in machine.state ? machine.state.killed : 'overdue' in machine.state && machine.state.overdue;
          if (hasRun(machine.state) && !killed) assert.notEqual(deadlineOf(machine), undefined);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('holds the socket only while somebody may come to serve it, and takes 51 and 75 of a worker that was up for requests (S7, S8)', () => {
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
      { numRuns: 500 },
    );
  });

  it('ends in stopped after stop and the end of the worker, from wherever it was (S6)', () => {
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
      { numRuns: 500 },
    );
  });
});
