// A socket that the test binds and hands down to a process, as systemd does with a socket unit.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inheritedSocket } from '../../worker/process/inherited-socket.ts';

const PROGRAM = fileURLToPath(new URL('../support/fixture-programs/serves-inherited-socket.ts', import.meta.url));

interface Owner {
  readonly server: Server;
  readonly port: number;
}

async function bound(t: { after(run: () => void): void }): Promise<Owner> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { server, port: address.port };
}

interface HandDown {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Come before the owner's socket. */
  readonly before?: readonly object[];
}

const descriptorOf = (server: object): number => (server as { readonly _handle: { readonly fd: number } })._handle.fd;

function handDown({ server }: Owner, { args = ['mine'], env = {}, before = [] }: HandDown = {}): ChildProcess {
  const handed = [...before, server].map(descriptorOf);
  return spawn(process.execPath, ['--import', 'tsx', PROGRAM, ...args], {
    env: { ...process.env, LISTEN_FDS: String(handed.length), ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...handed],
  });
}

/** A socket of datagrams and one of the Unix kind. */
async function noneForTcp(t: { after(run: () => void): void }): Promise<readonly object[]> {
  const datagrams = createSocket('udp4').bind(0, '127.0.0.1');
  await once(datagrams, 'listening');
  t.after(() => datagrams.close());
  const folder = mkdtempSync(join(tmpdir(), 'svc-t-'));
  const local = createServer().listen(join(folder, 'socket'));
  await once(local, 'listening');
  t.after(() => {
    local.close();
    rmSync(folder, { recursive: true });
  });
  return [datagrams, local];
}

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout !== null);
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return chunk.toString().trim();
}

describe('inheritedSocket', () => {
  it('serves on the descriptor that an owner hands down, which no child of the worker has', async (t) => {
    const owner = await bound(t);
    const child = handDown(owner);
    t.after(() => void child.kill('SIGKILL'));

    assert.equal(await firstLine(child), 'fd 3, a child has it: false');
    owner.server.close();
    const answer = await fetch(`http://127.0.0.1:${owner.port}/`);
    assert.equal(await answer.text(), 'over the inherited socket');
  });

  it('takes the first for TCP of all that are handed down', async (t) => {
    const owner = await bound(t);
    const child = handDown(owner, { before: await noneForTcp(t) });
    t.after(() => void child.kill('SIGKILL'));

    assert.equal(await firstLine(child), 'fd 5, a child has it: false');
    owner.server.close();
    const answer = await fetch(`http://127.0.0.1:${owner.port}/`);
    assert.equal(await answer.text(), 'over the inherited socket');
  });

  it('refuses to start where none of them is for TCP, or the one named http is not', async (t) => {
    const owner = await bound(t);
    for (const env of [{ LISTEN_FDS: '2' }, { LISTEN_FDNAMES: 'dns:http:other' }]) {
      const child = handDown(owner, { before: await noneForTcp(t), env });
      let said = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      const [code] = (await once(child, 'close')) as [number];

      assert.equal(code, 1);
      assert.match(
        said,
        /of the sockets that the owner hands down \(LISTEN_FDS\) (none is|the one named http is not) one for TCP/,
      );
    }
  });

  it('takes none that was handed to another process', async (t) => {
    const owner = await bound(t);
    const child = handDown(owner, { args: [], env: { LISTEN_PID: String(process.pid) } });

    assert.equal(await firstLine(child), 'none');
  });

  it('takes none where the variables are missing, malformed, or promise what is no socket', () => {
    const pid = process.pid;
    const of = (environment: Readonly<Record<string, string>>): unknown => inheritedSocket(environment, pid);

    assert.equal(of({}), undefined);
    assert.equal(of({ LISTEN_FDS: '1' }), undefined);
    assert.equal(of({ LISTEN_PID: String(pid) }), undefined);
    assert.equal(of({ LISTEN_PID: String(pid), LISTEN_FDS: '0' }), undefined);
    assert.equal(of({ LISTEN_PID: String(pid), LISTEN_FDS: 'x' }), undefined);
    assert.equal(of({ LISTEN_PID: String(pid), LISTEN_FDS: '9', LISTEN_FDNAMES: 'a:b:c:d:e:f:g:h:http' }), undefined);
  });
});
