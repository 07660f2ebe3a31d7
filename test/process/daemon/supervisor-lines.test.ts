// The lines that a real supervisor writes into the log.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { until } from '../../support/until.ts';

const supervise = overWorkers<string>(['exits-1-once-up', 'blocks-its-loop-always']);

describe('lines of the supervisor', () => {
  it('names the project in each of its lines, and the worker in those of a failure and a hang', async (t) => {
    const failed = supervise(t, 'exits-1-once-up', { settings: { project: 'shop', restarts: 1 } });
    const hung = supervise(t, 'blocks-its-loop-always', { settings: { project: 'shop', watchdogMs: 400 } });
    const { exits } = await failed.state('failed');
    const lines = (run: typeof failed): Record<string, unknown>[] =>
      run
        .log()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ process: name }) => name === 'supervisor');
    await until(() => lines(hung).some(({ msg }) => msg === 'supervisor hung'), { what: 'the hang in the log' });

    const all = [...lines(failed), ...lines(hung)];
    assert.deepEqual([...new Set(all.map(({ project }) => project))], ['shop']);
    const end = lines(failed).find(({ msg }) => msg === 'supervisor failed');
    assert.equal(end?.['runtimeId'], exits.at(-1)?.runtimeId);
    assert.match(String(end?.['runtimeId']), /^fixture-\d+$/);
    for (const { msg, runtimeId } of lines(hung).filter(({ msg: said }) => /hung|killed|silent/.test(String(said))))
      assert.match(String(runtimeId), /^fixture-\d+$/, String(msg));
  });
});
