// The way out of office of a supervisor: one successor at a time, with real processes in its place.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { State } from '../../../supervisor/machine/machine.ts';
import { Handover } from '../../../supervisor/succession/handover.ts';
import { lives } from '../../support/process/supervised.ts';
import { until } from '../../support/until.ts';

const RUNNING: State = { kind: 'running', upAt: 0, heardAt: 0 };
const PROGRAM = {
  program: process.execPath,
  args: ['-e', "process.send({ type: 'ready' }); process.once('disconnect', () => process.exit(0));"],
  project: process.cwd(),
  environment: {},
};

function handover(t: TestContext): Handover {
  const made = new Handover({});
  t.after(() => made.giveUp());
  return made;
}

describe('a supervisor that is to be replaced', () => {
  it('says so to a second one that wants to replace it', async (t) => {
    const office = handover(t);
    const first = office.prepare(PROGRAM, () => RUNNING);

    await assert.rejects(
      office.prepare(PROGRAM, () => RUNNING),
      /is being replaced already/,
    );

    assert.ok(lives(await first));
  });

  it('gives its successor up where somebody else moved it while that started, and can be replaced later', async (t) => {
    const office = handover(t);
    let state: State = RUNNING;
    const first = office.prepare(PROGRAM, () => state);
    state = { kind: 'checking' };

    await assert.rejects(first, /cannot be replaced while it is checking/);

    state = RUNNING;
    const pid = await office.prepare(PROGRAM, () => state);
    assert.ok(lives(pid));
    office.giveUp();
    await until(() => !lives(pid), { what: 'the end of the successor' });
  });
});
