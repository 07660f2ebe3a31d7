// Generations: what a reload takes over, what a failing candidate leaves behind, who ends what, how long the old one lives.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { describe, it } from 'node:test';
import { createPluginRoutes } from '../../../worker/runtime/plugin-routes.ts';
import { definePlugin, t } from '../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../support/engine-host.ts';
import { MemoryPlatform } from '../../support/memory-platform.ts';

const A = 'root/memory:memory~a';

/** Says its version; `hold` waits until the test lets go. */
function versioned(version: () => string) {
  const waiting: (() => void)[] = [];
  const aborted: string[] = [];
  const plugin = definePlugin({
    name: 'talker',
    setup(p) {
      const mine = version();
      p.signal.addEventListener('abort', () => void aborted.push(mine));
      p.on('message', { timeoutMs: 600_000 }, async (_ctx, { text }) => {
        if (text === 'hold') await new Promise<void>((resolve) => waiting.push(resolve));
        return `${text} by ${mine}`;
      });
    },
  });
  return { plugin, aborted, release: () => waiting.splice(0).forEach((go) => void go()) };
}

describe('a reload', () => {
  it('gives a higher number, also after a restart', async (context) => {
    const host = await engineHost(context, {});
    const first = host.engine.runtime.current?.number;
    await host.engine.runtime.reload('test');

    const next = await host.restart(context);

    assert.deepEqual([first, next.engine.runtime.current?.number], [1, 3]);
    assert.deepEqual(
      next.events('generation.committed').map(({ data }) => data['number']),
      [1, 2, 3],
    );
  });

  it('lets a 60-second handler end in its generation over three reloads; its answer goes out through the accounts of now', async (context) => {
    let version = 1;
    const talker = versioned(() => `v${version}`);
    const host = await engineHost(context, { modules: { talker: talker.plugin } });
    await host.platform.says('hold');
    await host.quiet();
    for (version = 2; version <= 4; version += 1) {
      host.configure({ plugins: { memory: { endpoints: [{ id: 'a', room: `r${version}` }] } } });
      await host.engine.runtime.reload('test');
      await host.advance(10_000);
    }
    await host.platform.says('hello', { from: 'bob' });
    await host.advance(30_000);
    const draining = host.engine.runtime.draining.map(({ number, running }) => [number, running]);
    const connects = host.platform.connects.get(A);

    talker.release();
    await host.quiet();

    assert.deepEqual(draining, [[1, 1]], 'the others had nothing to end');
    assert.deepEqual(host.platform.said('dm-ann'), ['hold by v1']);
    assert.deepEqual(host.platform.said('dm-bob'), ['hello by v4']);
    assert.equal(connects, 4);
    assert.equal(
      (host.platform.links.get(A)?.account as { room: string }).room,
      'r4',
      'it went out through the last of them',
    );
    assert.deepEqual(host.engine.runtime.draining, []);
    assert.deepEqual(talker.aborted, ['v2', 'v3', 'v1']);
    assert.deepEqual(
      host.events('generation.retired').map(({ data }) => [data['number'], data['cut']]),
      [
        [2, 0],
        [3, 0],
        [1, 0],
      ],
    );
  });

  it('cuts what the old generation still runs at its life limit; the new one makes the next attempt', async (context) => {
    let version = 1;
    const talker = versioned(() => `v${version}`);
    const host = await engineHost(context, { modules: { talker: talker.plugin }, engine: { lifeLimitMs: 60_000 } });
    await host.platform.says('hold');
    await host.quiet();
    version = 2;
    await host.engine.runtime.reload('test');

    await host.advance(61_000);
    talker.release();
    await host.advance(5_000);
    talker.release();
    await host.quiet();

    assert.deepEqual(
      host.events('generation.retired').map(({ data }) => data['cut']),
      [1],
    );
    assert.deepEqual(host.platform.said('dm-ann'), ['hold by v2']);
    assert.match(host.rows<{ error: string }>('SELECT last_error AS error FROM inbox')[0]?.error ?? '', /retired/);
  });

  it('leaves an unchanged account connected and connects a changed one anew, once the former has ended', async (context) => {
    const host = await engineHost(context, {
      config: { plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } } },
    });
    const kept = host.platform.links.get(A);

    host.configure({ plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b', room: 'other' }] } } });
    await host.engine.runtime.reload('test');
    await host.quiet();

    assert.equal(host.platform.links.get(A), kept);
    assert.deepEqual(
      [...host.platform.connects],
      [
        [A, 1],
        ['root/memory:memory~b', 2],
      ],
    );
    const states = host.events('endpoint.state_changed').filter(({ endpoint }) => endpoint?.endsWith('~b'));
    assert.deepEqual(
      states.map(({ data }) => data['to']),
      ['connecting', 'online', 'disabled', 'connecting', 'online'],
    );
  });

  it('does not hang on a connection that does not end', async (context) => {
    const { defineAdapter } = await import('../../../worker/sdk/index.ts');
    const stubborn = defineAdapter({
      name: 'stubborn',
      account: { n: t.integer({ default: 0 }) },
      can: { text: { limit: 100, unit: 'utf16', render: 'plain' } },
      connect: (link) => {
        link.online();
        return new Promise(() => {});
      },
      send: async () => ({ kind: 'sent' }),
    });
    const host = await engineHost(context, { modules: { stubborn } });
    host.configure({ plugins: { stubborn: { n: 1 } } });

    const reloaded = host.engine.runtime.reload('test');
    await host.advance(6_000);

    assert.equal((await reloaded).number, 2);
    await host.quiet();
    assert.equal(host.engine.endpoints.get('root/stubborn:stubborn')?.state.state, 'online');
  });

  it('takes a new definition of an adapter though its settings are the same', async (context) => {
    const other = new MemoryPlatform();
    const host = await engineHost(context, {});

    host.modules['memory'] = other.adapter;
    await host.engine.runtime.reload('test');
    await host.quiet();

    assert.deepEqual([host.platform.links.size, other.links.size], [0, 1]);
  });

  it('answers 503 to nobody: a route goes on in the generation that serves', async (context) => {
    const plugin = definePlugin({
      name: 'web',
      setup(p) {
        const hits = p.state('hits', { scope: 'plugin', value: t.integer() });
        p.route('POST /hit', { scope: 'full' }, async (ctx) => {
          const n = ((await ctx.get(hits)) ?? 0) + 1;
          ctx.set(hits, n);
          ctx.send({ endpoint: 'memory~a', id: '#web' }, `hit ${n}`);
          return { json: { n } };
        });
        p.route('GET /broken', { scope: 'full' }, () => {
          throw new Error('no');
        });
      },
    });
    const host = await engineHost(context, { modules: { web: plugin } });
    const routes = routesOf(host);
    const found = routes('POST', 'web', '/hit');
    assert.ok(found !== undefined && 'run' in found);

    await host.engine.runtime.reload('test');
    const answer = await found.run(request('POST', '/hit'));
    await host.quiet();

    assert.deepEqual(answer, { json: { n: 1 }, status: 200 });
    assert.deepEqual(host.platform.said('#web'), ['hit 1']);
    const broken = routes('GET', 'web', '/broken');
    assert.ok(broken !== undefined && 'run' in broken);
    await assert.rejects(broken.run(request('GET', '/broken')), { code: 'plugin_failed' });
    assert.deepEqual(routes('GET', 'web', '/hit'), { allow: ['POST'] });
  });

  it('stores schedules later where the storage fails at that moment, and retires the old one all the same', async (context) => {
    const plugin = definePlugin({
      name: 'jobs',
      setup(p) {
        p.cron('job', { at: '0 * * * *' }, () => {});
      },
    });
    const host = await engineHost(context, {});
    const { writer } = host.core;
    const commit = writer.commit.bind(writer);
    let failures = 2;
    writer.commit = (unit) =>
      unit.name === 'cron.serve' && failures-- > 0 ? Promise.reject(new Error('full')) : commit(unit);
    host.modules['jobs'] = plugin;
    host.configure({});

    await host.engine.runtime.reload('test');
    const retired = host.engine.runtime.draining.length;
    await host.advance(5_000);

    assert.equal(retired, 0);
    assert.equal(host.rows("SELECT * FROM due WHERE kind = 'cron'").length, 1);
  });
});

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

  it('because setup hangs leaves the old one serving', { timeout: 15_000 }, async (context) => {
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

describe('accounts', () => {
  const two = { config: { plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } } } };

  it('that fail hold back neither the start nor another, and heal by themselves', async (context) => {
    const platform = new MemoryPlatform();
    platform.down.set(A, new Error('refused'));
    const host = await engineHost(context, { ...two, platform });
    const before = ['a', 'b'].map((id) => host.engine.endpoints.get(`root/memory:memory~${id}`)?.state.state);
    await host.advance(30_000);
    const failures = host.engine.endpoints.get(A)?.state.failures ?? 0;

    platform.down.delete(A);
    await host.advance(60_000);

    assert.deepEqual(before, ['offline', 'online']);
    assert.ok(failures > 3 && failures < 10, `${failures}`);
    assert.equal(host.engine.endpoints.get(A)?.state.state, 'online');
    assert.equal(host.engine.endpoints.get(A)?.state.lastError?.reason, 'refused');
  });

  it('obey an operator over restarts and reloads', async (context) => {
    const { createEndpointControl } = await import('../../../worker/endpoints/endpoint-control.ts');
    const caller = { actor: 'op', scope: 'full' } as never;
    const host = await engineHost(context, two);
    const act = (of: EngineHost, action: 'enable' | 'disable' | 'reconnect') =>
      createEndpointControl(of.core, of.engine.endpoints).act(A, action, { caller, revision: undefined });

    await act(host, 'disable');
    await host.engine.runtime.reload('test');
    const next = await host.restart(context);
    const disabled = next.engine.endpoints.get(A)?.state.state;
    await assert.rejects(act(next, 'reconnect'), { code: 'conflict' });
    await act(next, 'enable');
    await next.quiet();
    await act(next, 'reconnect');
    await next.quiet();

    assert.equal(disabled, 'disabled');
    assert.equal(next.engine.endpoints.get(A)?.state.state, 'online');
    assert.equal(next.platform.connects.get(A), 3);
    assert.deepEqual([...next.events('endpoint.disabled'), ...next.events('endpoint.enabled')].length, 2);
  });

  it('ask again for what they could not fetch, while the connection stands', async (context) => {
    const platform = new MemoryPlatform();
    let failures = 1;
    platform.catchUp = async () => {
      if (failures-- > 0) throw new Error('busy');
    };
    const host = await engineHost(context, { platform });
    const before = host.engine.endpoints.get(A)?.state.state;

    await host.advance(31_000);

    assert.deepEqual([before, host.engine.endpoints.get(A)?.state.state], ['degraded', 'online']);
    assert.equal(platform.connects.get(A), 1);
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
    assert.match(plugin.files[0] ?? '', /talker\.js$/);
    assert.match(lockfile.files[0] ?? '', /package-lock\.json$/);
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
    host.configure({ http: { port: 8_068, token: '$' + '{HTTP_TOKEN}' } });

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

const routesOf = ({ engine, core }: EngineHost) =>
  createPluginRoutes({
    context: engine.context,
    generation: () => engine.runtime.current,
    decided: (decided) => engine.decided(decided),
    failed: (_route, error) => core.log.warn({ err: error }, 'failed'),
  });

const request = (method: string, path: string) =>
  ({ method, path, query: {}, headers: {}, body: Buffer.alloc(0), receivedAt: 0 }) as never;
