// The listener of the control protocol, when what lies under its path changes.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { callControl } from '../../shared/control-client.ts';
import { type ControlListener, type ControlListenerOptions, listenForControl } from '../../shared/control-listener.ts';
import { temporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

interface Listening {
  readonly folder: string;
  readonly path: string;
  readonly listener: ControlListener;
  readonly troubles: readonly string[];
}

async function listening(t: TestContext, given: Partial<ControlListenerOptions> = {}): Promise<Listening> {
  const folder = temporaryProject(t).paths.stateDir;
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'control.sock');
  const troubles: string[] = [];
  const listener = await listenForControl({
    path,
    capabilities: [],
    answer: async () => 'here',
    onTrouble: (message) => void troubles.push(message),
    ...given,
  });
  t.after(() => listener.close());
  return { folder, path, listener, troubles };
}

const removed = ({ folder }: Listening): void => {
  rmSync(folder, { recursive: true });
  mkdirSync(folder, { mode: 0o700 });
};

describe('listenForControl', () => {
  it('lets an idle client go, and none that waits for its answer', async (t) => {
    const events = new EventEmitter();
    const answerOf = async (): Promise<string> => (await once(events, 'idle is gone'), 'late');
    const { path } = await listening(t, { idleMs: 50, answer: answerOf });

    const answer = callControl(path, 'hello');
    const idle = connect(path).on('close', () => events.emit('idle is gone'));
    await once(idle, 'connect');

    assert.equal(await answer, 'late');
  });

  it('makes its socket anew where that was removed (L3)', async (t) => {
    const { path, troubles } = await listening(t);

    rmSync(path);
    await until(() => troubles.length > 0, { what: 'the look' });

    assert.equal(await callControl(path, 'hello'), 'here');
  });

  it('makes none in a folder that took the place of its own (L5)', async (t) => {
    const its = await listening(t);

    removed(its);
    await until(() => its.troubles.length > 0, { what: 'the look' });

    assert.match(its.troubles.join(), /folder/);
    assert.equal(existsSync(its.path), false);
  });

  it('leaves the socket of another one in such a folder alone when it ends (L5)', async (t) => {
    const its = await listening(t);
    removed(its);
    const other = createServer().listen(its.path);
    t.after(() => other.close());
    await until(() => existsSync(its.path), { what: 'the other socket' });

    await its.listener.close();

    assert.equal(existsSync(its.path), true);
  });
});
