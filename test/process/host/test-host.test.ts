// `startHost` of svc/testing: a real host for a harness, over HTTP, restarted and killed, and nothing of it left however the harness ends.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type HostOptions, startHost, type TestHost } from '../../../worker/testing/host.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { lives } from '../../support/process/supervised.ts';
import { until } from '../../support/until.ts';

const TESTING = new URL('../../../dist/testing/index.js', import.meta.url).href;
const CHILDREN = `import { spawn } from 'node:child_process';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'own', setup(p) {
  const child = p.resource('child', async () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']), () => {});
  p.route('GET /child', { scope: 'full' }, () => ({ json: { pid: child().pid } }));
} });
`;

/** A working folder of the harness, with the packages of this repository. */
function workingFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-harness-'));
  t.after(() => removeLive(folder));
  return folder;
}

function withChild(t: TestContext): HostOptions {
  const file = join(workingFolder(t), 'own.mjs');
  writeFileSync(
    file,
    CHILDREN.replace("'svc'", JSON.stringify(new URL('../../../dist/sdk/worker/sdk/index.js', import.meta.url))),
  );
  return { plugins: { own: file } };
}

async function childOf(host: TestHost): Promise<number> {
  const answer = await host.request('/plugins/own/child');
  return ((await answer.json()) as { pid: number }).pid;
}

describe('a test host', () => {
  it('serves on a port of its own, keeps url and state over restarts and kills, and shows its log', async (t) => {
    const host = await startHost({ owner: t, plugins: { sandbox: {}, echo: 'echo' } });
    const generation = async (): Promise<number> =>
      ((await (await host.request('/api/system/status')).json()) as { generation: number }).generation;
    const { url, pid } = host;

    assert.equal((await host.request('/pub/ready', { token: null })).status, 200);
    assert.equal((await host.request('/api/system/status', { token: null })).status, 401);
    assert.equal(await generation(), 1);
    const paused = await host.request('/api/system/ingress', { method: 'PUT', json: { state: 'paused', reason: 'r' } });
    assert.equal(paused.status, 200);
    await host.restart();
    assert.equal(host.url, url);
    assert.notEqual(host.pid, pid);
    assert.equal(await generation(), 2);
    await host.kill();
    await assert.rejects(host.request('/pub/health'));
    await host.restart();
    assert.equal(await generation(), 3);
    const gate = (await (await host.request('/api/system/ingress')).json()) as { state: string };
    assert.equal(gate.state, 'paused');
    const ups = host.logs().filter(({ msg }) => msg === 'worker up');
    assert.equal(ups.length, 3);
    assert.ok(!JSON.stringify(host.logs()).includes(host.token));
  });

  it('is one of many: each has a project and a port of its own', async (t) => {
    const hosts = await Promise.all([1, 2].map(() => startHost({ owner: t, plugins: { sandbox: {} } })));

    assert.equal(new Set(hosts.map(({ url }) => url)).size, 2);
    assert.equal(new Set(hosts.map(({ project }) => project)).size, 2);
    assert.equal((await hosts[0]?.request('/api/system/status', { token: hosts[1]?.token ?? '' }))?.status, 401);
  });

  it('takes configuration, files, variables, a base path and a mode', async (t) => {
    const host = await startHost({
      owner: t,
      mode: 'production',
      config: { host: { name: 'named' }, http: { base: '/bot', demoToken: '${DEMO}' } },
      plugins: { sandbox: {}, own: { use: `./${join('..', '..', 'nowhere')}`, enabled: false } },
      files: { 'data/note.txt': 'kept' },
      environment: { DEMO: 'demo-token-of-this-test-0123' },
    });

    const status = await host.request('/api/system/status', { token: 'demo-token-of-this-test-0123' });
    assert.equal(((await status.json()) as { name: string }).name, 'named');
    assert.ok(host.url.endsWith('/bot'));
    assert.ok(existsSync(join(host.project, 'data/note.txt')));
  });

  it('is gone with all that it started when it is closed, by whatever name', async (t) => {
    for (const close of [(host: TestHost) => host.close(), (host: TestHost) => host[Symbol.asyncDispose]()]) {
      const host = await startHost(withChild(t));
      const child = await childOf(host);
      assert.ok(lives(child));

      await close(host);

      assert.ok(!existsSync(host.project));
      // Killed they run nothing more; the kernel takes them apart in its own time.
      await until(() => [host.pid, child].filter(lives).length === 0, { what: 'the kernel to end them' });
      await assert.rejects(fetch(`${host.url}/pub/health`));
      await host.close();
      await assert.rejects(host.restart(), /closed/);
    }
  });

  it('says why it does not come up, and leaves nothing', async (t) => {
    const scratch = workingFolder(t);
    const file = join(scratch, 'bad.mjs');
    writeFileSync(file, 'export default 1;');
    // Hosts of other test files come and go in the common one.
    const { TMPDIR } = process.env;
    process.env['TMPDIR'] = scratch;
    t.after(() => {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    });

    await assert.rejects(startHost({ plugins: { bad: file } }), /not ready: runtime: root\/bad: .*definition/s);
    await assert.rejects(startHost({ config: { http: { base: 3 } } }), /ended with 78[\s\S]*http\.base/);
    await assert.rejects(startHost({ plugins: { sandbox: {} }, timeoutMs: 1 }), /after 1 ms/);
    await assert.rejects(startHost({ files: { a: '', 'a/b': '' } }), /EEXIST|ENOTDIR/);

    assert.equal(tmpdir(), scratch);
    assert.deepEqual(readdirSync(scratch), ['bad.mjs']);
  });
});

describe('options of a test host', () => {
  for (const [options, message] of [
    [{ plugin: {} }, /^startHost: there is no key plugin; did you mean plugins\?$/],
    [{ mode: 'prod' }, /^startHost: mode has to be one of development, production, test$/],
    [{ timeoutMs: '5' }, /^startHost: timeoutMs has to be a number above 0$/],
    [{ environment: { PORT: 5 } }, /^startHost: environment has to be texts by name$/],
    [{ plugins: { tea: 5 } }, /^startHost: plugins has to be a file, a package, .*by slot$/],
    [{ owner: {} }, /^startHost: owner has to be the context of a test, with after\(\)$/],
    ['./svc.config.yml', /^startHost: expected an object$/],
  ] as const)
    it(`are refused where nothing would come of them: ${JSON.stringify(options)}`, async () => {
      await assert.rejects(startHost(options as never), { code: 'definition_invalid', message });
    });
});

describe('a harness that leaves its host behind', { concurrency: 2 }, () => {
  const ENDS: readonly (readonly [how: string, last: string])[] = [
    ['is killed', "process.kill(process.pid, 'SIGKILL');"],
    ['exits', 'process.exit(1);'],
    ['throws', "throw new Error('a test that failed');"],
    ['comes to its end', ''],
  ];
  for (const [how, last] of ENDS) {
    it(`${how}: host, children and folder go with it`, async (t) => {
      const folder = workingFolder(t);
      const { plugins } = withChild(t);
      const script = join(folder, 'harness.mjs');
      writeFileSync(
        script,
        `import { startHost } from ${JSON.stringify(TESTING)};
const host = await startHost(${JSON.stringify({ plugins })});
const child = await (await host.request('/plugins/own/child')).json();
process.stdout.write(JSON.stringify({ pid: host.pid, child: child.pid, project: host.project }) + '\\n', () => { ${last} });
`,
      );
      const harness = spawn(process.execPath, [script], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
      t.after(() => harness.kill('SIGKILL'));
      let said = '';
      harness.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      await new Promise((resolve) => harness.once('exit', resolve));
      await until(() => said.endsWith('\n'), { what: 'what the harness said' });
      const { pid, child, project } = JSON.parse(said) as { pid: number; child: number; project: string };

      await until(() => ![pid, child].some(lives) && !existsSync(project), { what: 'the end of all of it' });
    });
  }
});
