// What the supervisor's status says of a drain to whoever decides by it: a word of its own, whatever the reason says to people.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { State } from '../../../supervisor/machine/machine.ts';
import { runtimeStatus } from '../../../supervisor/machine/status.ts';
import {
  AT,
  CONDEMNED,
  DRAINING,
  FAILED,
  LEAVING,
  machine,
  REPLACING,
  RESTARTING,
  RUNNING,
} from '../../support/process/machine-states.ts';

const drainOf = (state: State) =>
  runtimeStatus({
    machine: machine(state),
    since: '',
    worker: undefined,
    exits: [],
    socket: false,
    standby: null,
    configVersion: null,
    log: '',
    mode: 'production',
    notes: [],
    now: { monotonic: AT.now, wall: 0 },
  }).drain;

describe('the status of a supervisor', () => {
  it('names what its worker drains for, and nothing in another state', () => {
    const states = [DRAINING, RESTARTING, REPLACING, LEAVING, CONDEMNED, RUNNING, FAILED];

    assert.deepEqual(states.map(drainOf), ['stop', 'restart', 'replace', 'worker', 'fail', null, null]);
  });
});
