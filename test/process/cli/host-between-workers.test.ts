// The commands that ask over HTTP while nobody accepts at the socket that is held: they say why, what for, and until when.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { controlStandIn } from '../../support/commands/control-stand-in.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const DEFERRED = {
  state: 'deferred',
  socket: 'supervisor',
  reason: '1 starts within 60 s: waiting for the oldest to leave the window',
  budget: { limit: 1, left: 0, windowMs: 60_000, nextStartAt: '2026-01-01T00:00:42.000Z' },
} as const;
const SAYS_DEFERRED =
  /^svc: the host is deferred: 1 starts within 60 s: [^\n]+, next start at 2026-01-01T00:00:42\.000Z\n.*`svc runtime restart`[^\n]* starts it now/;

/** Takes connections, and says nothing over them before `answer` is called. */
async function heldSocket(t: TestContext) {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => void open.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const body = '{"items":[],"total":0}';
  const answer = (): void => {
    for (const socket of open)
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
  };
  return { port: (server.address() as AddressInfo).port, open, answer };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const keysAt = (port: number) => ({ http: { port, token: '${HTTP_TOKEN}' } });

describe('a command that asks over HTTP, where nobody accepts', { concurrency: 3 }, () => {
  it('ends at once where the next start is deferred: says until when, and what to do', async (t) => {
    const { port, open } = await heldSocket(t);
    const { path } = await portProject(t, { keys: keysAt(port) });
    await controlStandIn(t, path, DEFERRED);

    for (const words of ['inbox list', 'ingress status', 'events tail', 'chat']) {
      const { code, stderr } = await svc(words.split(' '), { cwd: path });

      assert.deepEqual([code, open.size], [1, 0], stderr);
      assert.match(stderr, SAYS_DEFERRED, words);
    }
  });

  it('ends where that comes while it waits, and says of a change that it may still be made', async (t) => {
    const { port, open } = await heldSocket(t);
    const { path } = await portProject(t, { keys: keysAt(port) });
    const control = await controlStandIn(t, path, { state: 'draining', socket: 'supervisor' });

    const asking = [
      ['inbox', 'list'],
      ['ingress', 'pause'],
      ['events', 'tail'],
    ].map((words) => svc(words, { cwd: path }));
    await until(() => open.size === asking.length, { what: 'the requests' });
    control.say(DEFERRED);
    const [list, pause, tail] = await Promise.all(asking);

    for (const { code, stderr } of [list, pause, tail].filter((ended) => ended !== undefined)) {
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^svc: the host is deferred: /m);
    }
    assert.match(pause?.stderr ?? '', /PUT \/api\/system\/ingress [^\n]*may still be taken/);
    assert.doesNotMatch(list?.stderr ?? '', /may still be taken/);
  });

  it('says what it waits for while the host starts, and has its answer then', async (t) => {
    const { port, answer } = await heldSocket(t);
    const { path } = await portProject(t, { keys: keysAt(port) });
    const waiting = { ...DEFERRED, state: 'backing_off', reason: 'waiting after a crash: boom' };
    const control = await controlStandIn(t, path, waiting);

    const asking = startSvc(['inbox', 'list', '--json'], { cwd: path });
    await until(() => /waiting after a crash: boom, next start at 2026/.test(asking.output()), { what: 'the first' });
    control.say({ state: 'starting', socket: 'supervisor', reason: 'migrating' });
    await until(() => asking.output().includes('the host is starting: migrating'), { what: 'the second' });
    answer();
    const { code, stdout, stderr } = await asking.ended;

    assert.deepEqual([code, JSON.parse(stdout).total], [0, 0]);
    assert.equal(stderr.split('\n').length - 1, 2, 'each state is told once');
  });
});
