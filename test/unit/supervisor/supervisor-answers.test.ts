// What the supervisor's machine answers to every event in every state (MACHINE-1).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event, State } from '../../../supervisor/machine/machine.ts';
import { step } from '../../../supervisor/machine/transition.ts';
import {
  AT,
  CONDEMNED,
  DEFERRED,
  DRAINING,
  exited,
  FAILED,
  HUNG,
  LEAVING,
  machine,
  OVERDUE,
  REPLACING,
  RESTARTING,
  RUNNING,
  STARTING,
  SWITCHED,
  TOLD,
  unspawned,
  WAITING,
} from '../../support/process/machine-states.ts';

const SAMPLES: readonly State[] = [
  { kind: 'locking' },
  { kind: 'checking' },
  STARTING,
  OVERDUE,
  RUNNING,
  HUNG,
  { ...HUNG, killed: true },
  ...[DRAINING, RESTARTING, REPLACING, LEAVING, CONDEMNED].flatMap((state) => [state, { ...state, killed: true }]),
  WAITING,
  DEFERRED,
  FAILED,
  { kind: 'stopped', code: 0 },
];
const WITH_WORKER = ['starting', 'running', 'hung', 'draining'];
/** Where each event has an answer that is more than nothing: the table of transition.ts, by its columns. */
const APPLIES: readonly (readonly [Event, readonly string[]])[] = [
  [{ kind: 'lock_held' }, ['locking']],
  [{ kind: 'clear' }, ['checking']],
  [{ kind: 'stuck', failure: 'port', detail: '' }, ['checking']],
  [{ kind: 'handed_over' }, ['checking']],
  [{ kind: 'handover_failed' }, ['checking']],
  [unspawned('EAGAIN'), WITH_WORKER],
  [unspawned('ENOENT'), WITH_WORKER],
  [exited(0), WITH_WORKER],
  [exited(1), WITH_WORKER],
  [exited(75), WITH_WORKER],
  [{ ...exited(1), beside: 'pid 1' }, WITH_WORKER],
  [{ kind: 'address_taken', run: 1, detail: '' }, ['starting']],
  [TOLD, ['starting']],
  [{ kind: 'address_shared', run: 1, detail: '' }, ['starting', 'running']],
  [{ kind: 'up', run: 1 }, ['starting', 'running']],
  [{ kind: 'progress', run: 1 }, ['starting', 'running']],
  [{ kind: 'heartbeat', run: 1 }, ['running']],
  [{ kind: 'worker_stopping', run: 1, code: 51 }, ['running']],
  [SWITCHED, ['starting', 'running']],
  [{ kind: 'stop', now: false }, SAMPLES.map(({ kind }) => kind).filter((kind) => kind !== 'stopped')],
  [{ kind: 'stop', now: true }, SAMPLES.map(({ kind }) => kind).filter((kind) => kind !== 'stopped')],
  [{ kind: 'restart' }, ['starting', 'running', 'hung', 'backing_off', 'deferred', 'failed']],
  [{ kind: 'start' }, ['backing_off', 'deferred', 'failed']],
  [{ kind: 'replace' }, [...WITH_WORKER, 'backing_off', 'deferred', 'failed']],
  [{ kind: 'clock_jump' }, ['starting', 'running']],
  [{ kind: 'tick' }, [...WITH_WORKER, 'backing_off', 'deferred']],
];

describe('every event in every state', () => {
  const LATER = { now: AT.now + 60_000, random: 0 };

  for (const [event, kinds] of APPLIES)
    it(`${Object.values(event).join(' ')}: has a defined answer, and changes nothing where it does not apply (MACHINE-1)`, () => {
      for (const state of SAMPLES) {
        const before = machine(state);
        const after = step(before, event, LATER);

        assert.ok(SAMPLES.some(({ kind }) => kind === after.machine.state.kind));
        if (!kinds.includes(state.kind)) assert.deepEqual(after, { machine: before, effects: [] }, state.kind);
      }
    });

  for (const [event, kinds] of APPLIES)
    it(`${Object.values(event).join(' ')}: does something where it applies (MACHINE-1)`, () => {
      for (const kind of new Set(kinds)) {
        const answers = SAMPLES.filter((state) => state.kind === kind).map((state) => {
          const before = machine(state);
          return [before, step(before, event, LATER)] as const;
        });

        assert.ok(
          answers.some(([before, { machine: after, effects }]) => after !== before || effects.length > 0),
          kind,
        );
      }
    });
});
