// The listener of the control protocol, when what lies under its path changes.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { callControl } from '../../../shared/control/control-client.ts';
import {
  type ControlListener,
  type ControlListenerOptions,
  listenForControl,
} from '../../../shared/control/control-listener.ts';
import type { SvcError } from '../../../shared/svc-error.ts';
import { smallDisk, smallDiskMissing, takeInodes } from '../../support/disk/small-disk.ts';
import { deadSocket } from '../../support/process/dead-socket.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

interface Listening {
  readonly folder: string;
  readonly path: string;
  readonly listener: ControlListener;
  readonly troubles: readonly string[];
}

const pathIn = (t: TestContext): string => {
  const folder = temporaryProject(t).paths.stateDir;
  mkdirSync(folder, { mode: 0o700 });
  return join(folder, 'control.sock');
};

async function listening(t: TestContext, given: Partial<ControlListenerOptions> = {}): Promise<Listening> {
  const { path = pathIn(t) } = given;
  const folder = dirname(path);
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

describe('listenForControl', { concurrency: 4 }, () => {
  it('makes its socket later where no inode is left (CONTROL-SOCKET-6)', { skip: smallDiskMissing() }, async (t) => {
    const path = pathIn(t);
    smallDisk(t, dirname(path), { kilobytes: 64, inodes: 8 });
    const giveBack = takeInodes(dirname(path));

    const { troubles } = await listening(t, { path });
    assert.match(troubles.join(), /^the control socket cannot be made yet: 0 of 8 inodes are free/);
    giveBack();
    await until(() => existsSync(path), { what: 'the socket' });

    assert.equal(await callControl(path, 'hello'), 'here');
  });

  it('lets an idle client go, and none that waits for its answer', async (t) => {
    const events = new EventEmitter();
    const [asked, idleIsGone] = [once(events, 'asked'), once(events, 'idle is gone')];
    const answerOf = async (): Promise<string> => {
      events.emit('asked');
      await idleIsGone;
      return 'late';
    };
    const { path } = await listening(t, { idleMs: 2_000, answer: answerOf });

    const answer = callControl(path, 'hello', { timeoutMs: 300_000 });
    await asked;
    connect(path).on('close', () => events.emit('idle is gone'));

    assert.equal(await answer, 'late');
  });

  it('turns away who comes above its limit of clients, and takes another one once there is room (CONTROL-SOCKET-2)', async (t) => {
    const { path } = await listening(t);
    const gone = new Set<Socket>();
    const clients = Array.from({ length: 70 }, () => connect(path).resume());
    t.after(() => clients.forEach((client) => client.destroy()));
    for (const client of clients) client.on('error', () => {}).on('close', () => gone.add(client));

    await until(() => gone.size === 6, { what: 'six that are turned away' });
    await assert.rejects(callControl(path, 'hello'));
    for (const client of clients.filter((each) => !gone.has(each)).slice(0, 1)) client.destroy();

    await until(async () => (await callControl(path, 'hello')) === 'here', { what: 'room for another one' });
  });

  it('cuts a client that asks on and reads no answer (CONTROL-SOCKET-2)', async (t) => {
    let answered = 0;
    const answer = async (): Promise<string> => ((answered += 1), 'x'.repeat(256 * 1024));
    const { path } = await listening(t, { answer });
    const client = connect(path).pause();
    client.on('error', () => {}); // a write after the cut
    t.after(() => client.destroy());

    for (let asked = 1; asked <= 40 && !client.destroyed; asked += 1) {
      client.write(`${JSON.stringify({ id: asked, protocol: 1, command: 'status' })}\n`);
      await until(() => client.destroyed || answered === asked, { what: `answer ${asked}` });
    }

    await until(() => client.destroyed, { what: 'the cut' });
    assert.ok(answered < 40, `${answered} answers of 256 KiB`);
  });

  it('makes its socket anew where that was removed (CONTROL-SOCKET-3)', async (t) => {
    const { path, troubles } = await listening(t);

    rmSync(path);
    await until(() => troubles.length > 0, { what: 'the look' });

    assert.equal(await callControl(path, 'hello'), 'here');
  });

  it('takes the place of a dead socket (CONTROL-SOCKET-4)', async (t) => {
    const path = pathIn(t);
    deadSocket(path);

    await listening(t, { path });

    assert.equal(await callControl(path, 'hello'), 'here');
  });

  for (const [what, put, said] of [
    ['a file', (path: string) => writeFileSync(path, 'kept'), /control\.sock is in the way: it is no socket/],
    ['a link to nothing', (path: string) => symlinkSync('nowhere', path), /is in the way: it is no socket/],
    [
      'a dead socket of somebody else',
      (path: string) => (deadSocket(path), chownSync(path, 65_534, 65_534)),
      /is a socket of user 65534, not of 0/,
    ],
  ] as const)
    it(`refuses ${what} at its path, and leaves it there (CONTROL-SOCKET-4)`, {
      skip: what.endsWith('else') && process.getuid?.() !== 0 && 'only root gives files away',
    }, async (t) => {
      const path = pathIn(t);
      put(path);
      const before = lstatSync(path).ino;

      await assert.rejects(listening(t, { path }), (error: SvcError) => {
        assert.match(error.message, said);
        return error.code === 'state_dir_unsafe' && error.hint !== undefined;
      });

      assert.equal(lstatSync(path).ino, before);
    });

  it('leaves a file that took the place of its socket, says so once, and is back when that is gone (CONTROL-SOCKET-4)', async (t) => {
    const { path, troubles } = await listening(t);
    rmSync(path);
    writeFileSync(path, 'kept');

    await until(() => troubles.length > 0, { what: 'the look' });
    assert.match(troubles[0] ?? '', /is in the way/);
    assert.equal(readFileSync(path, 'utf8'), 'kept');
    rmSync(path);
    await until(() => troubles.length > 1, { what: 'the socket' });

    assert.match(troubles[1] ?? '', /is there again/);
    assert.equal(await callControl(path, 'hello'), 'here');
  });

  it('leaves such a file when it ends (CONTROL-SOCKET-4)', async (t) => {
    const { path, listener } = await listening(t);
    rmSync(path);
    writeFileSync(path, 'kept');

    await listener.close();

    assert.equal(readFileSync(path, 'utf8'), 'kept');
  });

  it('makes none in a folder that took the place of its own (CONTROL-SOCKET-5)', async (t) => {
    const its = await listening(t);

    removed(its);
    await until(() => its.troubles.length > 0, { what: 'the look' });

    assert.match(its.troubles.join(), /folder/);
    assert.equal(existsSync(its.path), false);
  });

  it('leaves the socket of another one in such a folder alone when it ends (CONTROL-SOCKET-5)', async (t) => {
    const its = await listening(t);
    removed(its);
    const other = createServer().listen(its.path);
    t.after(() => other.close());
    await until(() => existsSync(its.path), { what: 'the other socket' });

    await its.listener.close();

    assert.equal(existsSync(its.path), true);
  });
});
