// Items of a host that says nothing over HTTP for seconds: one whose loop turns is waited for, of another one the file is read.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { WORKER_SOCKET } from '../../../shared/files/paths.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { receiveItem } from '../../../worker/inbox/inbox-store.ts';
import { controlStandIn, standInAt } from '../../support/commands/control-stand-in.ts';
import { portProject, startSvc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const ITEM = 'a1';
const DEAD = receiveItem({
  id: ITEM,
  endpoint: 'root/sandbox:main',
  delivery_id: 'd1',
  weak: 0,
  kind: 'arrival',
  lane: 'l',
  capability: null,
  payload_version: 1,
  body: '{}',
  sha256: '',
  bytes: 2,
  received_at: 1,
  state: 'dead',
  attempts: 5,
  deaths: 0,
  next_at: null,
  done_at: 1,
  last_error: null,
  actor: null,
  correlation_id: null,
  causation_id: null,
  operator_changes: 0,
  code: 'handler_failed',
  failed_handler: 'root/a#on/message',
});

/** It takes each request and answers none by itself; its database has one item, which is dead. */
async function silentHost(t: TestContext) {
  const open: ServerResponse[] = [];
  const server = createServer((_request, response) => void open.push(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  const { path, paths } = await portProject(t, { keys: { http: { port, token: '${HTTP_TOKEN}' } } });
  mkdirSync(paths.stateDir, { mode: 0o700, recursive: true });
  const core = new WriterCore({ file: paths.database, now: Date.now });
  core.run([{ name: 'test', statements: [DEAD] }]);
  core.close();
  const address = { host: '127.0.0.1', port };
  await controlStandIn(t, path, { state: 'running', ready: true, address, socket: 'supervisor' });
  return { path, open, worker: () => standInAt(t, join(path, WORKER_SOCKET), { state: 'running' }) };
}

describe('a host that does not answer over HTTP', { concurrency: true }, () => {
  it('is waited for while its worker answers over its own socket', async (t) => {
    const { path, open, worker } = await silentHost(t);
    const well = await worker();

    const asking = startSvc(['inbox', 'list', '--json'], { cwd: path });
    await until(() => well.asked() > 0, { what: 'the look at the worker' });
    open[0]?.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[{"id":"a"}],"total":1}');
    const { code, stdout, stderr } = await asking.ended;

    assert.deepEqual([code, JSON.parse(stdout).items, stderr], [0, [{ id: 'a' }], '']);
  });

  it('is passed over where that does not answer either: the file is read, and the line says so', async (t) => {
    const { path, open } = await silentHost(t);

    const asking = startSvc(['inbox', 'list', '--json'], { cwd: path });
    const { code, stdout, stderr } = await asking.ended;

    const { items, total } = JSON.parse(stdout);
    assert.deepEqual([code, items[0].id, total, open.length], [0, ITEM, 1, 1]);
    assert.equal(stderr, 'the host does not answer: using .svc/data.sqlite\n');
  });

  for (const [shown, end] of [
    ['dead-5', { code: 0, state: 'done' }],
    ['dead-4', { code: 1, error: 'precondition_failed' }],
  ] as const)
    it(`has a change made in the file for the item as it was shown, and for no other: ${shown}`, async (t) => {
      const { path, open } = await silentHost(t);

      const asking = startSvc(['inbox', 'drop', ITEM, '--reason', 'x', '--json'], { cwd: path });
      await until(() => open.length === 1, { what: 'the look at the item' });
      open[0]?.writeHead(200, { 'content-type': 'application/json', etag: `"${shown}"` }).end('{}');
      const { code, stdout } = await asking.ended;

      const { state, error } = JSON.parse(stdout);
      assert.equal(open.length, 2, 'the change was sent, too');
      assert.deepEqual(error === undefined ? { code, state } : { code, error: error.code }, end);
    });
});
