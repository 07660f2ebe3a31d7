// A host whose plugins could not be loaded is up and serves nothing: what lists accounts and plugins says so, and is not taken for a host without any.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ensureStateFolder } from '../../shared/files/state-folder.ts';
import { HTTP, running } from '../support/hosts/app-host.ts';
import { temporaryProject } from '../support/temporary-project.ts';

const DEMO = 'demo-token-0123456789abcdef';
const BROKEN = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'broken', setup() { throw new Error('a word of the configuration'); } });`;

async function hostWith(
  t: Parameters<typeof running>[0],
  plugins: Readonly<Record<string, unknown>>,
  { database }: { readonly database?: string } = {},
) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  const config = { http: { ...HTTP, demoToken: '${DEMO_TOKEN}' }, plugins };
  const project = temporaryProject(t, { config, env: { DEMO_TOKEN: DEMO }, plugins: { 'broken.mjs': BROKEN } });
  ensureStateFolder(project.paths.stateDir);
  if (database !== undefined) writeFileSync(project.paths.database, database, { mode: 0o600 });
  const host = await running(t, { project });
  const ask = async (path: string, { token = project.token, method = 'GET' } = {}) => {
    const url = `http://127.0.0.1:${host.app.address()?.port}${path}`;
    const response = await fetch(url, { method, headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, json: (await response.json()) as Readonly<Record<string, unknown>> };
  };
  return { host, ask };
}

const LISTS = [
  ['/api/endpoints', 'endpoints'],
  ['/api/plugins', 'plugins'],
  ['/api/webhooks', 'webhooks'],
] as const;

describe('a host that serves no generation', () => {
  it('says so in its lists, with the reason for full scope', async (t) => {
    const { ask } = await hostWith(t, { sandbox: {}, broken: { use: './plugins/broken.mjs' } });
    const { lastFailure } = (await ask('/api/system/status')).json;

    for (const [path, list] of LISTS) {
      const { status, json } = await ask(path);
      assert.deepEqual([status, json[list], json['generation']], [200, [], null], path);
      assert.deepEqual(json['lastFailure'], lastFailure, path);
    }
    assert.match(JSON.stringify(lastFailure), /a word of the configuration/);
    for (const [path] of LISTS.slice(0, 2)) {
      const { json } = await ask(path, { token: DEMO });
      assert.deepEqual(
        [json['generation'], json['lastFailure']],
        [null, { code: 'plugin_failed', reason: null }],
        path,
      );
    }
  });

  it('names the database where that is why', async (t) => {
    const { ask } = await hostWith(t, { sandbox: {} }, { database: 'this is not a database '.repeat(1_000) });
    const { generation, lastFailure } = (await ask('/api/system/status')).json;

    assert.equal(generation, null);
    assert.match(JSON.stringify(lastFailure), /"database_corrupt".*SQLITE_NOTADB/);
    for (const [path] of LISTS) assert.deepEqual((await ask(path)).json['lastFailure'], lastFailure, path);
    assert.deepEqual((await ask('/api/endpoints', { token: DEMO })).json['lastFailure'], {
      code: 'database_corrupt',
      reason: null,
    });
  });

  it('has no account now, which is not that there is none of the name', async (t) => {
    const { ask } = await hostWith(t, { sandbox: {}, broken: { use: './plugins/broken.mjs' } });

    const answers = [
      await ask('/api/endpoints/sandbox'),
      await ask('/api/endpoints/sandbox/disable', { method: 'POST' }),
      await ask('/api/webhooks/sandbox/register', { method: 'POST' }),
    ];

    for (const { status, json } of answers) {
      assert.deepEqual([status, json['code']], [503, 'endpoint_unavailable']);
      assert.match(String(json['hint']), /svc runtime status/);
    }
  });

  it('is told apart from one that has none, or whose last reload failed', async (t) => {
    const { host, ask } = await hostWith(t, { ping: {} });
    host.configure({ http: HTTP, plugins: { broken: { use: './plugins/broken.mjs' } } });
    const reload = await ask('/api/system/reload', { method: 'POST' });

    assert.equal(reload.status, 409);
    for (const [path, list] of LISTS) {
      const { json } = await ask(path);
      assert.deepEqual([typeof json['generation'], json['lastFailure']], ['number', undefined], path);
      assert.equal((json[list] as readonly unknown[]).length, list === 'plugins' ? 1 : 0);
    }
  });
});
