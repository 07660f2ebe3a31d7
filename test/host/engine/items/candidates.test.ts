// Candidates that fail leave the old generation serving; code that has changed.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { describe, it } from 'node:test';
import { defineAdapter, definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';
import { versioned } from '../../../support/hosts/versioned-plugin.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const HTTP_TOKEN = '${HTTP_TOKEN}';

describe('a candidate that fails', () => {
  const opener = (servers: Server[], closed: string[]) =>
    definePlugin({
      name: 'opener',
      setup(p) {
        p.resource(
          'server',
          () =>
            new Promise<Server>((resolve) => {
              const server = createServer();
              servers.push(server);
              server.listen(0, '127.0.0.1', () => resolve(server));
            }),
          (server) => new Promise<void>((resolve) => server.close(() => resolve(void closed.push('server')))),
        );
      },
    });
  const failing: readonly [string, ReturnType<typeof definePlugin>, RegExp][] = [
    [
      'throws in setup',
      definePlugin({
        name: 'z-last',
        setup: () => {
          throw new Error('bad setup');
        },
      }),
      /setup of root\/z-last failed: bad setup/,
    ],
    [
      'throws while it opens its resource',
      definePlugin({
        name: 'z-last',
        setup: (p) =>
          void p.resource(
            'socket',
            () => Promise.reject(new Error('refused')),
            () => {},
          ),
      }),
      /resource socket of root\/z-last could not be opened: refused/,
    ],
    [
      'defines something twice',
      definePlugin({
        name: 'z-last',
        setup: (p) => {
          for (let n = 0; n < 2; n += 1) p.command('x', { summary: '' }, () => {});
        },
      }),
      /defined twice/,
    ],
    ['is no plugin', { name: 'z-last' }, /not a svc definition/],
  ];
  for (const [what, last, reason] of failing) {
    it(`because its last plugin ${what} leaves the old one serving, and no listener of its own`, async (context) => {
      let version = 1;
      const talker = versioned(() => `v${version}`);
      const servers: Server[] = [];
      const closed: string[] = [];
      const host = await engineHost(context, { modules: { talker: talker.plugin } });
      const timers = host.clock.next();
      version = 2;
      host.modules['opener'] = opener(servers, closed);
      host.modules['z-last'] = last;
      host.configure({});

      await assert.rejects(host.engine.runtime.reload('test'), reason);
      await host.platform.says('hello');
      await host.quiet();

      assert.deepEqual(host.platform.said('dm-ann'), ['hello by v1']);
      assert.equal(host.engine.runtime.current?.number, 1);
      assert.deepEqual(
        servers.filter(({ listening }) => listening),
        [],
      );
      assert.deepEqual(talker.aborted, ['v2'], 'its signal has ended');
      assert.equal(host.clock.next(), timers, 'no timer is left');
      assert.deepEqual(
        host.events('generation.failed').map(({ data }) => data['plugin']),
        ['z-last'],
      );
    });
  }

  it('because setup hangs leaves the old one serving', { timeout: 300_000 }, async (context) => {
    const host = await engineHost(context, {});
    host.modules['hangs'] = definePlugin({ name: 'hangs', setup: () => new Promise(() => {}) });
    host.configure({});

    await assert.rejects(host.engine.runtime.reload('test'), /setup did not return within 5000 ms/);

    assert.equal(host.engine.runtime.current?.state, 'serving');
  });

  it('because a resource does not open in time leaves the old one serving, and closes what opens after all', async (context) => {
    let opened: ((value: string) => void) | undefined;
    const closed: unknown[] = [];
    const host = await engineHost(context, {});
    host.modules['slow'] = definePlugin({
      name: 'slow',
      setup: (p) =>
        void p.resource(
          'line',
          () =>
            new Promise<string>((resolve) => {
              opened = resolve;
            }),
          (value) => void closed.push(value),
        ),
    });
    host.configure({});

    const refused = assert.rejects(host.engine.runtime.reload('test'), /did not open within 30000 ms/);
    await host.until('the opening', () => opened);
    await host.advance(31_000);
    await refused;
    opened?.('late');
    await host.quiet();

    assert.deepEqual(closed, ['late']);
    assert.equal(host.engine.runtime.current?.number, 1);
  });

  it('because of a key that nobody knows names it with its place, on accounts and on the slot beside them', async (context) => {
    const host = await engineHost(context, {});
    for (const [slot, pattern] of [
      [{ endpoints: [{ id: 'a', rom: 'x' }] }, /svc\.config\.yml:\d+:\d+ plugins\.memory\.endpoints\[0\]\.rom/],
      [{ rooom: 'x', endpoints: [{ id: 'a' }] }, /svc\.config\.yml:\d+:\d+ plugins\.memory\.rooom/],
    ] as const) {
      host.configure({ plugins: { memory: slot } });
      await assert.rejects(host.engine.runtime.reload('test'), pattern);
    }
    host.modules['plain'] = definePlugin({ name: 'plain', setup: () => {} });
    host.configure({ plugins: { plain: { endpoints: [{ id: 'x' }] } } });
    await assert.rejects(host.engine.runtime.reload('test'), /plugins\.plain\.endpoints is for adapters/);

    assert.equal(host.engine.runtime.current?.number, 1);
  });

  it("because an account has keys that are the host's names them", async (context) => {
    const host = await engineHost(context, {});
    for (const key of ['id', 'enabled']) {
      host.modules['own'] = defineAdapter({
        name: 'own',
        account: { [key]: t.optional(t.string()) },
        can: { text: { limit: 100, unit: 'bytes', render: 'plain' } },
        send: async () => ({ kind: 'sent' }),
      });
      host.configure({ plugins: { own: { endpoints: [{ id: 'a' }] } } });

      await assert.rejects(host.engine.runtime.reload('test'), {
        code: 'definition_invalid',
        message: new RegExp(`root/own: its own key "${key}" could never be reached`),
      });
    }
  });

  it('at the first start leaves everything waiting for the next', async (context) => {
    let broken = true;
    const plugin = definePlugin({
      name: 'talker',
      setup(p) {
        if (broken) throw new Error('not yet');
        p.on('message', {}, (_ctx, { text }) => text);
      },
    });
    const host = await engineHost(context, { modules: { talker: plugin } });
    const first = [host.engine.runtime.current, host.engine.runtime.lastFailure?.code];
    broken = false;

    await host.engine.runtime.reload('test');
    await host.quiet();
    await host.platform.says('hi');
    await host.quiet();

    assert.deepEqual(first, [undefined, 'plugin_failed']);
    assert.deepEqual(host.platform.said('dm-ann'), ['hi']);
    assert.equal(host.engine.runtime.lastFailure, undefined);
  });
});

describe('code that has changed', () => {
  const source = (text: string): string =>
    `import { definePlugin } from 'svc';\nexport default definePlugin({ name: 'talker', setup(p) { p.on('message', {}, () => '${text}'); } });\n`;

  it('runs after a reload in development', async (context) => {
    const host = await engineHost(context, {
      mode: 'development',
      plugins: { 'talker.ts': source('old') },
      config: { plugins: { talker: { use: './plugins/talker' } } },
    });
    await host.platform.says('x');
    await host.quiet();

    host.project.write('plugins/talker.ts', source('new'));
    await host.engine.runtime.reload('test');
    await host.platform.says('x');
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['old', 'new']);
  });

  it('may be TypeScript that was compiled to CommonJS', async (context) => {
    const text = `Object.defineProperty(exports, '__esModule', { value: true });
const svc_1 = require('svc');
exports.default = (0, svc_1.definePlugin)({ name: 'talker', setup(p) { p.on('message', {}, () => 'compiled'); } });
`;
    for (const mode of ['development', 'production'] as const) {
      const host = await engineHost(context, {
        mode,
        plugins: { 'talker.cjs': text },
        config: { plugins: { talker: { use: './plugins/talker.cjs' } } },
      });
      await host.platform.says('x');
      await host.quiet();

      assert.deepEqual(host.platform.said('dm-ann'), ['compiled'], mode);
    }
  });

  it('needs a restart in production, and so does the lockfile', async (context) => {
    const host = await engineHost(context, {
      mode: 'production',
      plugins: { 'talker.js': source('old') },
      config: { plugins: { talker: { use: './plugins/talker' } } },
    });
    await host.engine.runtime.reload('test');

    host.project.write('plugins/talker.js', source('new'));
    const plugin = await failure(host);
    host.project.write('plugins/talker.js', source('old'));
    host.project.write('package-lock.json', '{}');
    const lockfile = await failure(host);
    await host.platform.says('x');
    await host.quiet();

    assert.deepEqual([plugin.code, plugin.files.length], ['restart_required', 1]);
    assert.deepEqual([plugin.files[0], lockfile.files[0]], ['plugins/talker.js', 'package-lock.json']);
    assert.deepEqual(host.platform.said('dm-ann'), ['old']);
  });

  it('needs a restart when a plugin comes back that this process has loaded before, as it was then', async (context) => {
    const host = await engineHost(context, {
      mode: 'production',
      plugins: { 'talker.js': source('old') },
      config: { plugins: { talker: { use: './plugins/talker' } } },
    });
    host.configure({ plugins: { talker: { use: './plugins/talker', enabled: false } } });
    await host.engine.runtime.reload('test');
    host.project.write('plugins/talker.js', source('new'));
    await host.engine.runtime.reload('test');
    host.configure({ plugins: { talker: { use: './plugins/talker' } } });

    assert.equal((await failure(host)).code, 'restart_required');
  });

  it('needs a restart for keys that a running process cannot take in', async (context) => {
    const host = await engineHost(context, {});
    host.configure({ http: { port: 8_068, token: HTTP_TOKEN } });

    await assert.rejects(host.engine.runtime.reload('test'), { code: 'restart_required', message: /http\.port/ });
  });

  async function failure(host: EngineHost): Promise<{ code: string; files: readonly string[] }> {
    try {
      await host.engine.runtime.reload('test');
    } catch (error) {
      const { code, details } = error as { code: string; details: { files: readonly string[] } };
      return { code, files: details.files };
    }
    return { code: 'reloaded', files: [] };
  }
});
