// The supervisor's machine over more than one step: deadlines that are set, renewed and used up, codes, and what a budget is after each way out.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadlineOf, type Event, type Machine, type State, type Step } from '../../../supervisor/machine/machine.ts';
import { isOnItsWay } from '../../../supervisor/machine/requests.ts';
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
  TOLD,
  unspawned,
  WAITING,
} from '../../support/process/machine-states.ts';

const LOCKING: State = { kind: 'locking' };
const CHECKING: State = { kind: 'checking' };
const STOPPED: State = { kind: 'stopped', code: 0 };
const TICK: Event = { kind: 'tick' };
const STOP: Event = { kind: 'stop', now: false };
const RESTART: Event = { kind: 'restart' };
const START: Event = { kind: 'start' };
const REPLACE: Event = { kind: 'replace' };

const at = (before: Machine, event: Event, afterMs: number): Step =>
  step(before, event, { now: AT.now + afterMs, random: 0 });

const oneRun = (kind: 'up' | 'progress' | 'heartbeat'): Event => ({ kind, run: 1 });

/** Nothing before its time, then the kill, and that once. */
function assertKilledOnce(waiting: Machine, dueMs: number, cause: string): Machine {
  assert.equal(deadlineOf(waiting), AT.now + dueMs);
  const early = at(waiting, TICK, dueMs - 1);
  assert.deepEqual(early, { machine: waiting, effects: [] });
  const due = at(waiting, TICK, dueMs);
  assert.deepEqual(due.effects, [{ kind: 'kill', run: 1, cause }]);
  assert.equal(deadlineOf(due.machine), undefined);
  return due.machine;
}

describe('a deadline of the supervisor', () => {
  it('is set with a start, which is killed at it, and counts for nothing from then on', () => {
    const begun = at({ ...machine(CHECKING, []), run: 0 }, { kind: 'clear' }, 0).machine;

    const late = assertKilledOnce(begun, LIMITS.upMs, 'not up within 30000 ms');

    for (const sign of ['up', 'progress'] as const)
      assert.deepEqual(at(late, oneRun(sign), LIMITS.upMs), { machine: late, effects: [] });
    assert.deepEqual(at(late, { kind: 'clock_jump' }, LIMITS.upMs), { machine: late, effects: [] });
    assert.equal(at(late, exited(0), LIMITS.upMs).machine.window.crashesInRow, 1);
  });

  it('of a start is renewed by a sleep of the machine', () => {
    const slept = at(machine(STARTING), { kind: 'clock_jump' }, LIMITS.upMs).machine;

    assert.equal(deadlineOf(slept), AT.now + 2 * LIMITS.upMs);
  });

  it('of a running worker is counted from its last heartbeat; the report comes first, then the kill', () => {
    const heard = at(machine(RUNNING), oneRun('heartbeat'), 10_000).machine;
    assert.deepEqual(at(heard, TICK, LIMITS.watchdogMs), { machine: heard, effects: [] });

    const silent = at(heard, TICK, 10_000 + LIMITS.watchdogMs);

    assert.equal(silent.machine.state.kind, 'hung');
    assert.deepEqual(silent.effects, [{ kind: 'write_report', run: 1 }]);
    const dueMs = 10_000 + LIMITS.watchdogMs + LIMITS.reportMs;
    assertKilledOnce(silent.machine, dueMs, 'no heartbeat for 15000 ms');
  });

  for (const [what, event] of [
    ['stop', STOP],
    ['restart', RESTART],
    ['replace', REPLACE],
    ['its own word', { kind: 'worker_stopping', run: 1, code: 51 }],
  ] as const)
    it(`is set with a drain that begins with ${what}`, () => {
      const draining = at(machine(RUNNING), event, 5).machine;

      assertKilledOnce(draining, 5 + LIMITS.stopMs, 'not drained within 8000 ms');
    });

  it('is gone once a stop at once has killed (MACHINE-5)', () => {
    for (const state of [STARTING, RUNNING, DRAINING]) {
      const { machine: after, effects } = at(machine(state), { kind: 'stop', now: true }, 0);

      assert.deepEqual(effects.at(-1), { kind: 'kill', run: 1, cause: 'stop --now' });
      assert.equal(deadlineOf(after), undefined);
    }
  });
});

describe('the end of the supervisor', () => {
  const beside: Event = { kind: 'stuck', failure: 'owner', detail: 'pid 1' };
  const ends: readonly (readonly [string, Machine, Event, 0 | 1])[] = [
    ['a stop', machine(DRAINING), exited(1), 0],
    ['a stop that waits for nobody', machine(WAITING), STOP, 0],
    ['a worker that ended with 0', machine(RUNNING), exited(0), 0],
    ['a successor', machine(CHECKING), { kind: 'handed_over' }, 0],
    ['a worker of another owner', { ...machine(CHECKING), run: 0 }, beside, 1],
    ['one that came between', machine(STARTING), { ...exited(1), beside: 'pid 1' }, 1],
  ];
  for (const [what, before, event, code] of ends)
    it(`has code ${code} after ${what}`, () => {
      const { machine: after, effects } = step(before, event, AT);

      assert.deepEqual(after.state, { kind: 'stopped', code });
      assert.deepEqual(effects, [{ kind: 'release' }, { kind: 'exit', code }]);
    });
});

describe('the budget of the supervisor', () => {
  const spent = (state: State): Machine => ({ ...machine(state, SPENT), window: { starts: SPENT, crashesInRow: 3 } });

  it('is a new one for who leaves failed or deferred on command, and only then', () => {
    const empty = { starts: [], crashesInRow: 0 };
    for (const event of [RESTART, START, REPLACE])
      assert.deepEqual(step(spent(FAILED), event, AT).machine.window, empty, event.kind);
    for (const event of [RESTART, START])
      assert.deepEqual(step(spent(DEFERRED), event, AT).machine.window, { starts: [AT.now], crashesInRow: 0 });
    assert.deepEqual(step(spent(DEFERRED), REPLACE, AT).machine.window, spent(DEFERRED).window);
  });

  it('asks for the configured address at the start, and after failed for what the next worker tells', () => {
    assert.deepEqual(step(machine(LOCKING), { kind: 'lock_held' }, AT).effects, [{ kind: 'check', final: true }]);
    for (const event of [RESTART, START])
      assert.deepEqual(step(machine(FAILED), event, AT).effects, [{ kind: 'check', final: false }]);
  });

  it('lets a crash after two minutes of health wait as the first one does, and a sooner one longer (WINDOW-3)', () => {
    const crashes = { ...machine(RUNNING), window: { starts: [AT.now], crashesInRow: 3 } };
    const sooner = at(crashes, exited(1), LIMITS.resetAfterMs - 1).machine;
    const later = at(crashes, exited(1), LIMITS.resetAfterMs).machine;

    assert.deepEqual(sooner.state, { kind: 'backing_off', until: AT.now + LIMITS.resetAfterMs - 1 + 16_000 });
    assert.deepEqual([later.state.kind, later.window.crashesInRow], ['starting', 1]);
  });

  it('knows no crash in a restart that was asked for, however the worker ends', () => {
    for (const [code, signal] of [
      [0, null],
      [1, null],
      [78, null],
      [null, 'SIGKILL'],
    ] as const) {
      const before = { ...machine(RESTARTING), window: { starts: [AT.now], crashesInRow: 3 } };
      const { machine: after } = step(before, exited(code, signal), AT);

      assert.deepEqual([after.state.kind, after.window.crashesInRow], ['starting', 3], `${code} ${signal}`);
    }
  });
});

describe('a worker that drains', () => {
  it('was up where it was running, and was not where it was starting', () => {
    const upAt = (state: State): unknown => {
      const { state: after } = step(machine(state), RESTART, AT).machine;
      return after.kind === 'draining' ? after.upAt : after.kind;
    };

    assert.deepEqual([upAt(RUNNING), upAt(STARTING)], [AT.now, undefined]);
  });

  it('is followed by another supervisor where that is asked for, unless it drains for a stop', () => {
    const purposes = [RESTARTING, LEAVING, DRAINING].map((state) => step(machine(state), REPLACE, AT).machine.state);

    assert.deepEqual(
      purposes.map((state) => state.kind === 'draining' && state.purpose.kind),
      ['replace', 'replace', 'stop'],
    );
  });
});

describe('a successor', () => {
  it('is not begun where the machine is on its way to where one would wait for what may never come', () => {
    const onItsWay: readonly State[] = [LOCKING, CHECKING, STOPPED, DRAINING];
    const others: readonly State[] = [
      STARTING,
      RUNNING,
      HUNG,
      RESTARTING,
      REPLACING,
      LEAVING,
      WAITING,
      DEFERRED,
      FAILED,
    ];

    assert.deepEqual([onItsWay.filter((state) => !isOnItsWay(state)), others.filter(isOnItsWay)], [[], []]);
  });
});

describe('what does not apply', () => {
  const WITHOUT_RUN: readonly State[] = [LOCKING, CHECKING, WAITING, DEFERRED, FAILED, STOPPED];
  const jumps: Event = { kind: 'clock_jump' };
  const leaves: Event = { kind: 'worker_stopping', run: 1, code: 51 };
  const changesNothing: readonly (readonly [readonly State[], readonly Event[]])[] = [
    [WITHOUT_RUN, [exited(1), unspawned('ENOENT'), unspawned('EAGAIN'), oneRun('up'), oneRun('heartbeat')]],
    [WITHOUT_RUN, [oneRun('progress'), leaves, TOLD, jumps]],
    [[LOCKING, CHECKING, FAILED, STOPPED], [TICK]],
    [
      [LOCKING, CHECKING, STOPPED, DRAINING, RESTARTING],
      [RESTART, START],
    ],
    [[LOCKING, CHECKING, STOPPED, DRAINING], [REPLACE]],
    [[STOPPED], [STOP, { kind: 'stop', now: true }]],
    [
      [OVERDUE, HUNG, DRAINING, CONDEMNED],
      [oneRun('up'), oneRun('progress'), jumps, leaves],
    ],
    [[STARTING], [oneRun('heartbeat'), leaves]],
    [
      [STARTING, RUNNING, HUNG, DRAINING, WAITING, DEFERRED, FAILED, STOPPED],
      [{ kind: 'lock_held' }, { kind: 'clear' }, { kind: 'handed_over' }, { kind: 'handover_failed' }],
    ],
  ];
  for (const [states, events] of changesNothing)
    for (const state of states)
      for (const event of events)
        it(`changes nothing (MACHINE-1): ${state.kind}, ${event.kind}`, () => {
          const before = machine(state);

          assert.deepEqual(step(before, event, { now: AT.now + 3_600_000, random: 0 }), {
            machine: before,
            effects: [],
          });
        });
});
