// The table of the supervisor's machine: each state and what leads out of it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadlineOf, type Event, isClockJump, type Machine, newMachine } from '../../../supervisor/machine/machine.ts';
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
  LIMITS,
  machine,
  OVERDUE,
  REPLACING,
  RESTARTING,
  RUNNING,
  SPENT,
  STARTING,
  SWITCHED,
  SWITCHING,
  TOLD,
  unspawned,
  WAITING,
} from '../../support/process/machine-states.ts';

type Row = readonly [string, Machine, Event, string, readonly string[]];

const TABLE: readonly Row[] = [
  ['locking: lock held', machine({ kind: 'locking' }), { kind: 'lock_held' }, 'checking', ['check']],
  ['checking: clear', machine({ kind: 'checking' }), { kind: 'clear' }, 'starting', ['spawn']],
  [
    'checking: clear, budget spent in a former life',
    machine({ kind: 'checking' }, SPENT),
    { kind: 'clear' },
    'deferred',
    [],
  ],
  [
    'checking: stuck',
    machine({ kind: 'checking' }),
    { kind: 'stuck', failure: 'port', detail: 'pid 1' },
    'failed',
    ['release'],
  ],
  [
    'checking: a worker of another owner, before the first of its own',
    { ...machine({ kind: 'checking' }), run: 0 },
    { kind: 'stuck', failure: 'owner', detail: 'pid 1' },
    'stopped',
    ['release', 'exit'],
  ],
  [
    'checking: a worker of another owner, later',
    machine({ kind: 'checking' }),
    { kind: 'stuck', failure: 'owner', detail: 'pid 1' },
    'failed',
    ['release'],
  ],
  [
    'starting: the first worker ends beside one of another owner',
    machine(STARTING),
    { ...exited(1), beside: 'pid 1' },
    'stopped',
    ['release', 'exit'],
  ],
  [
    'starting: a later one does',
    { ...machine(STARTING), run: 2 },
    { ...exited(1), run: 2, beside: 'pid 1' },
    'failed',
    ['release'],
  ],
  ['starting: up', machine(STARTING), { kind: 'up', run: 1 }, 'running', []],
  [
    'starting: no address for the worker',
    machine(STARTING),
    { kind: 'address_taken', run: 1, detail: 'port 1 is held by pid 2' },
    'draining',
    ['kill'],
  ],
  ['no address: its end is no crash', machine(CONDEMNED), exited(null, 'SIGKILL'), 'failed', ['release']],
  ['no address: stop', machine(CONDEMNED), { kind: 'stop', now: false }, 'draining', []],
  [
    'running: an address that comes late',
    machine(RUNNING),
    { kind: 'address_taken', run: 1, detail: '' },
    'running',
    [],
  ],
  ...[STARTING, RUNNING].map(
    (state): Row => [
      `${state.kind}: another process has the socket, too`,
      machine(state),
      { kind: 'address_shared', run: 1, detail: 'port 1 is held by pid 2' },
      'draining',
      ['kill'],
    ],
  ),
  [
    'running: the worker leaves for good',
    machine(RUNNING),
    { kind: 'worker_stopping', run: 1, code: 0 },
    'draining',
    ['release'],
  ],
  ['starting: spawn failed', machine(STARTING), unspawned('ENOENT'), 'failed', ['release']],
  ...['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'].map(
    (code): Row => [
      `starting: no room for a process: ${code} (EXIT-5)`,
      machine(STARTING),
      unspawned(code),
      'starting',
      ['spawn'],
    ],
  ),
  ['starting: no room, budget spent', machine(STARTING, SPENT), unspawned('EAGAIN'), 'failed', ['release']],
  ['draining to stop: no process came of it', machine(DRAINING), unspawned('ENOENT'), 'stopped', ['release', 'exit']],
  ['starting: the worker tells its address', machine(STARTING), TOLD, 'starting', ['serve']],
  ['running: the worker tells its address again', machine(RUNNING), TOLD, 'running', []],
  ['starting: crash, budget left', machine(STARTING), exited(1), 'starting', ['spawn']],
  ['starting: crash, budget spent', machine(STARTING, SPENT), exited(1), 'failed', ['release']],
  ['starting: 51 is a crash', machine(STARTING, SPENT), exited(51), 'failed', ['release']],
  ['starting: 75 is a crash', machine(STARTING, SPENT), exited(75), 'failed', ['release']],
  ['starting: the worker ends after a switch', machine(STARTING), SWITCHED, 'draining', []],
  [
    'starting: the worker announces 75 without a switch',
    machine(STARTING),
    { kind: 'worker_stopping', run: 1, code: 75 },
    'starting',
    [],
  ],
  [
    'starting: the worker announces another code after a switch',
    machine(STARTING),
    { ...SWITCHED, code: 51 },
    'starting',
    [],
  ],
  ['starting: one killed for being late announces a switch', machine(OVERDUE), SWITCHED, 'starting', []],
  ['after a switch: 75 asks for a restart', machine(SWITCHING), exited(75), 'starting', ['spawn']],
  ['after a switch: 75, budget spent', machine(SWITCHING, SPENT), exited(75), 'failed', ['release']],
  ['after a switch: 1 is a crash', machine(SWITCHING, SPENT), exited(1), 'failed', ['release']],
  ['after a switch: stop', machine(SWITCHING), { kind: 'stop', now: false }, 'draining', ['release', 'ask_stop']],
  ['starting: 78', machine(STARTING), exited(78), 'failed', ['release']],
  ['starting: 0', machine(STARTING), exited(0), 'stopped', ['release', 'exit']],
  ['starting: stop', machine(STARTING), { kind: 'stop', now: false }, 'draining', ['release', 'ask_stop']],
  [
    'starting: killed for being late is a crash, whatever its code',
    machine(OVERDUE, SPENT),
    exited(0),
    'failed',
    ['release'],
  ],
  ['running: crash, budget left', machine(RUNNING), exited(null, 'SIGKILL'), 'starting', ['spawn']],
  [
    'running: its end was lost, and is told without code and signal',
    machine(RUNNING),
    exited(null),
    'starting',
    ['spawn'],
  ],
  ['draining for a stop: its end was lost', machine(DRAINING), exited(null), 'stopped', ['release', 'exit']],
  ['running: crash, budget spent', machine(RUNNING, SPENT), exited(1), 'failed', ['release']],
  ['running: 51', machine(RUNNING), exited(51), 'starting', ['spawn']],
  ['running: 51, budget spent', machine(RUNNING, SPENT), exited(51), 'deferred', []],
  ['running: 75, budget spent', machine(RUNNING, SPENT), exited(75), 'deferred', []],
  ['running: 78', machine(RUNNING), exited(78), 'failed', ['release']],
  ['running: 0', machine(RUNNING), exited(0), 'stopped', ['release', 'exit']],
  ['running: 130', machine(RUNNING), exited(130), 'stopped', ['release', 'exit']],
  ['running: stop', machine(RUNNING), { kind: 'stop', now: false }, 'draining', ['release', 'ask_stop']],
  ['running: stop at once', machine(RUNNING), { kind: 'stop', now: true }, 'draining', ['kill']],
  ['running: restart', machine(RUNNING), { kind: 'restart' }, 'draining', ['ask_stop']],
  [
    'running: the worker stops by itself',
    machine(RUNNING),
    { kind: 'worker_stopping', run: 1, code: 51 },
    'draining',
    [],
  ],
  ['hung: exit is a crash', machine(HUNG, SPENT), exited(0), 'failed', ['release']],
  ['hung: time for the report is over', machine(HUNG), { kind: 'tick' }, 'hung', ['kill']],
  ['hung: stop', machine(HUNG), { kind: 'stop', now: false }, 'draining', ['kill']],
  ['hung: restart', machine(HUNG), { kind: 'restart' }, 'draining', ['kill']],
  ['draining to stop: any exit', machine(DRAINING), exited(1), 'stopped', ['release', 'exit']],
  ['draining to stop: a second stop', machine(DRAINING), { kind: 'stop', now: false }, 'draining', []],
  ['draining to stop: stop --now', machine(DRAINING), { kind: 'stop', now: true }, 'draining', ['kill']],
  ['draining to stop: restart comes too late', machine(DRAINING), { kind: 'restart' }, 'draining', []],
  ['draining to restart: any exit', machine(RESTARTING), exited(1), 'starting', ['spawn']],
  [
    'draining to restart: stop wins',
    machine(RESTARTING),
    { kind: 'stop', now: false },
    'draining',
    ['release', 'ask_stop'],
  ],
  [
    'draining by itself: killed over time ends with its code',
    machine({ ...LEAVING, killed: true }, SPENT),
    exited(null, 'SIGKILL'),
    'deferred',
    [],
  ],
  ['draining by itself: a crash on the way is one', machine(LEAVING, SPENT), exited(1), 'failed', ['release']],
  ['running: replace', machine(RUNNING), { kind: 'replace' }, 'draining', ['ask_stop']],
  ['hung: replace', machine(HUNG), { kind: 'replace' }, 'draining', ['kill']],
  ['draining to replace: any exit', machine(REPLACING), exited(1), 'checking', ['hand_over']],
  [
    'draining to replace: stop wins',
    machine(REPLACING),
    { kind: 'stop', now: false },
    'draining',
    ['release', 'ask_stop'],
  ],
  ['draining to stop: replace comes too late', machine(DRAINING), { kind: 'replace' }, 'draining', []],
  ['backing off: replace', machine(WAITING), { kind: 'replace' }, 'checking', ['hand_over']],
  ['failed: replace', machine(FAILED, SPENT), { kind: 'replace' }, 'checking', ['hand_over']],
  ['handed over', machine({ kind: 'checking' }), { kind: 'handed_over' }, 'stopped', ['release', 'exit']],
  ['not handed over', machine({ kind: 'checking' }, []), { kind: 'handover_failed' }, 'starting', ['spawn']],
  ['backing off: delay over', machine(WAITING), { kind: 'tick' }, 'starting', ['spawn']],
  ['backing off: restart', machine(WAITING), { kind: 'restart' }, 'starting', ['spawn']],
  ['backing off: stop', machine(WAITING), { kind: 'stop', now: false }, 'stopped', ['release', 'exit']],
  ['deferred: room again', machine(DEFERRED), { kind: 'tick' }, 'starting', ['spawn']],
  ['deferred: restart by an operator', machine(DEFERRED, SPENT), { kind: 'restart' }, 'starting', ['spawn']],
  ['deferred: stop', machine(DEFERRED, SPENT), { kind: 'stop', now: false }, 'stopped', ['release', 'exit']],
  ['failed: restart', machine(FAILED, SPENT), { kind: 'restart' }, 'checking', ['check']],
  ...[WAITING, DEFERRED].map(
    (state): Row => [`${state.kind}: start`, machine(state, SPENT.slice(1)), { kind: 'start' }, 'starting', ['spawn']],
  ),
  ['failed: start', machine(FAILED, SPENT), { kind: 'start' }, 'checking', ['check']],
  ...[STARTING, RUNNING, HUNG, DRAINING, RESTARTING].map(
    (state): Row => [`${state.kind}: start`, machine(state), { kind: 'start' }, state.kind, []],
  ),
  ['failed: stop', machine(FAILED), { kind: 'stop', now: false }, 'stopped', ['release', 'exit']],
  [
    'an event of an earlier run',
    machine(RUNNING),
    { kind: 'exited', run: 0, exit: { code: 1, signal: null }, detail: '' },
    'running',
    [],
  ],
];

describe('the machine of the supervisor', () => {
  for (const [title, before, event, state, effects] of TABLE) {
    it(title, () => {
      const after = step(before, event, AT);

      assert.equal(after.machine.state.kind, state);
      assert.deepEqual(
        after.effects.map(({ kind }) => kind),
        effects,
      );
    });
  }

  it('waits 0, 1, 4, 16 s after the first four deaths, and fails at the fifth (WINDOW-3)', () => {
    let now = 0;
    let current = step(
      step(newMachine(LIMITS), { kind: 'lock_held' }, { now, random: 0 }).machine,
      { kind: 'clear' },
      { now, random: 0 },
    ).machine;
    const waits: number[] = [];
    for (let death = 1; death <= 5; death += 1) {
      current = step(current, { kind: 'up', run: death }, { now, random: 0 }).machine;
      current = step(
        current,
        { kind: 'exited', run: death, exit: { code: null, signal: 'SIGKILL' }, detail: '' },
        { now, random: 0 },
      ).machine;
      const due = current.state.kind === 'backing_off' ? current.state.until : now;
      if (current.state.kind !== 'failed') waits.push(due - now);
      now = due;
      current = step(current, { kind: 'tick' }, { now, random: 0 }).machine;
    }

    assert.deepEqual(waits, [0, 1_000, 4_000, 16_000]);
    assert.equal(current.state.kind, 'failed');
  });

  for (const [health, upMs, starts] of [
    ['22 s', 22_000, 5],
    ['an hour', 3_600_000, 6],
  ] as const)
    it(`fails by the same limit when ${health} of health end in a worker that dies at start`, () => {
      let current = machine(RUNNING);
      let now = AT.now + upMs;

      for (let n = 0; n < 20 && current.state.kind !== 'failed'; n += 1) {
        const { state, run } = current;
        if (state.kind === 'backing_off') now = state.until;
        const event: Event = state.kind === 'backing_off' ? { kind: 'tick' } : { ...exited(1), run };
        current = step(current, event, { now, random: 0 }).machine;
      }

      assert.deepEqual([current.state.kind, current.run], ['failed', starts]);
    });

  it('takes the end of a switch for no crash, and fails by the same limit when each worker ends so before it is up', () => {
    let current = machine(STARTING);
    const crashes: number[] = [];

    for (let n = 0; n < 20 && current.state.kind === 'starting'; n += 1) {
      const { run } = current;
      const announced = step(current, { ...SWITCHED, run }, AT).machine;
      current = step(announced, { ...exited(75), run }, AT).machine;
      crashes.push(current.window.crashesInRow);
    }

    assert.deepEqual([current.state, current.run], [{ kind: 'failed', failure: 'storm', detail: 'why' }, 5]);
    assert.deepEqual(crashes, [0, 0, 0, 0, 0]);
  });

  it('is hung after the watchdog, but not when the machine had slept', () => {
    const late = { now: AT.now + LIMITS.watchdogMs, random: 0 };
    const slept = step(machine(RUNNING), { kind: 'clock_jump' }, late).machine;

    assert.equal(step(machine(RUNNING), { kind: 'tick' }, late).machine.state.kind, 'hung');
    assert.equal(step(slept, { kind: 'tick' }, late).machine.state.kind, 'running');
  });

  it('spends no start on a worker whose port a stranger has (WINDOW-5)', () => {
    const before = machine(STARTING, [AT.now - 10, AT.now]);
    const taken = step(before, { kind: 'address_taken', run: 1, detail: 'port 1 is held by pid 2' }, AT).machine;
    const after = step(taken, exited(null, 'SIGKILL'), AT).machine;

    assert.equal(after.state.kind, 'failed');
    assert.deepEqual(after.window, { starts: [AT.now - 10], crashesInRow: 0 });
  });

  it('has it looked for a sharer of the socket a second after each start but the first', () => {
    const afters = [0, 1].map((run) => step({ ...machine({ kind: 'checking' }), run }, { kind: 'clear' }, AT).effects);

    assert.deepEqual(afters, [
      [{ kind: 'spawn', run: 1, sharerAfterMs: undefined }],
      [{ kind: 'spawn', run: 2, sharerAfterMs: 1_000 }],
    ]);
  });

  it('takes a timer that is late by more than 2 s for a sleep of the machine', () => {
    assert.deepEqual([0, 2_000, 2_001].map(isClockJump), [false, false, true]);
  });

  it('gives a start that makes progress its full time again', () => {
    const later = { now: AT.now + LIMITS.upMs - 1, random: 0 };
    const renewed = step(machine(STARTING), { kind: 'progress', run: 1 }, later).machine;

    assert.equal(deadlineOf(renewed), later.now + LIMITS.upMs);
  });
});
