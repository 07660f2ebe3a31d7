// What accounts read while the host drains: their connections stand until the last, and IRC repeats nothing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReadOnly } from '../../worker/database/sqlite/connection.ts';
import { HTTP, running } from '../support/hosts/app-host.ts';
import { temporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

interface Hooks {
  say(id: string): Promise<void>;
  begun: number;
  end(): void;
}

const hooks = (): Hooks => (globalThis as unknown as { drainHooks: Hooks }).drainHooks;

describe('a drain', () => {
  it('stores what a connected account reads until its connection is ended', async (t) => {
    const project = temporaryProject(t, {
      config: { http: HTTP, plugins: { wire: { use: './plugins/wire.mjs' }, slow: { use: './plugins/slow.mjs' } } },
      plugins: {
        'wire.mjs': `import { defineAdapter } from 'svc';
globalThis.drainHooks = { begun: 0, end() {} };
export default defineAdapter({ name: 'wire', account: {}, can: { text: { limit: 100, unit: 'bytes', render: 'plain' } },
  connect(link) {
    globalThis.drainHooks.say = (id) => link.receive([{ id, kind: 'message', message: id, text: id, sentAt: 1,
      conversation: { id, kind: 'group' }, user: { id: 'u', name: 'u', admin: false } }]);
    link.online();
    return new Promise((resolve) => link.signal.addEventListener('abort', resolve));
  },
  async send() { return { kind: 'sent' }; } });`,
        'slow.mjs': `import { definePlugin } from 'svc';
export default definePlugin({ name: 'slow', setup(p) {
  p.on('message', {}, () => new Promise((resolve) => { globalThis.drainHooks.begun += 1; globalThis.drainHooks.end = resolve; })); } });`,
      },
    });
    const { app } = await running(t, { project });
    await until(() => typeof hooks().say === 'function', { what: 'the connection' });
    await hooks().say('before');
    await until(() => hooks().begun === 1, { what: 'the handler' });

    const stopped = app.stop(60_000);
    const meanwhile = await Promise.allSettled(['d1', 'd2', 'd3'].map((id) => hooks().say(id)));
    hooks().end();
    await stopped;

    const database = openReadOnly(project.paths.database);
    const rows = database.prepare('SELECT delivery_id AS id, state FROM inbox ORDER BY seq').all();
    database.close();
    assert.deepEqual(
      meanwhile.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    );
    assert.deepEqual(rows, [
      { id: 'before', state: 'done' },
      { id: 'd1', state: 'received' },
      { id: 'd2', state: 'received' },
      { id: 'd3', state: 'received' },
    ]);
  });
});
