// Items of a host that says nothing over HTTP for seconds: one whose loop turns is waited for, of another one the file is read.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { WORKER_SOCKET } from '../../shared/paths.ts';
import { WriterCore } from '../../worker/database/writer-core.ts';
import { controlStandIn, standInAt } from '../support/control-stand-in.ts';
import { portProject, startSvc } from '../support/svc-command.ts';
import { until } from '../support/until.ts';

/** It takes each request and answers none by itself; its database is empty. */
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
  core.open();
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

    assert.deepEqual([code, JSON.parse(stdout), open.length], [0, { items: [], total: 0 }, 1]);
    assert.equal(stderr, 'the host does not answer: this is of .svc/data.sqlite\n');
  });
});
