// Generations: what a reload takes over, what a failing candidate leaves behind, who ends what, how long the old one lives.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPluginRoutes } from '../../../../worker/runtime/generations/plugin-routes.ts';
import { definePlugin, type HttpAnswer, t } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';
import { versioned } from '../../../support/hosts/versioned-plugin.ts';

const A = 'root/memory:memory~a';

describe('a reload', () => {
  it('is done once for two that are meant for the same generation', async (t) => {
    const host = await engineHost(t, {});
    const { runtime } = host.engine;
    const isMeant = (): boolean => runtime.current?.number === 1;

    const [first, second] = await Promise.allSettled([
      runtime.reload('one', { isMeant }),
      runtime.reload('two', { isMeant }),
    ]);

    assert.deepEqual(
      [first.status, second.status === 'rejected' ? second.reason.code : second.status, runtime.current?.number],
      ['fulfilled', 'precondition_failed', 2],
    );
  });

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
      (host.platform.links.get(A)?.account as { room: string } | undefined)?.room,
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
    const { defineAdapter } = await import('../../../../worker/sdk/index.ts');
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

  it('refuses an answer that HTTP cannot carry, and commits nothing of it', async (context) => {
    const answers: readonly HttpAnswer[] = [
      { status: 42 },
      { status: 999 },
      { headers: { 'x y': 'z' } },
      { headers: { x: 'a\nb' } },
      { json: 1n },
    ];
    const plugin = definePlugin({
      name: 'web',
      setup(p) {
        for (const [n, answer] of answers.entries())
          p.route(`GET /${n}`, { scope: 'full' }, (ctx) => {
            ctx.send({ endpoint: 'memory~a', id: '#web' }, `answered ${n}`);
            return answer;
          });
      },
    });
    const host = await engineHost(context, { modules: { web: plugin } });

    for (const n of answers.keys()) {
      const found = routesOf(host)('GET', 'web', `/${n}`);
      assert.ok(found !== undefined && 'run' in found);
      await assert.rejects(found.run(request('GET', `/${n}`)), { code: 'plugin_failed' }, String(n));
    }
    await host.quiet();

    assert.deepEqual(host.platform.said('#web'), []);
    assert.equal(host.logs.filter(({ message }) => message === 'plugin route failed').length, answers.length);
  });

  it('stores schedules later where the storage fails at that moment, and retires the old one all the same', async (context) => {
    const plugin = definePlugin({
      name: 'timed',
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
    host.modules['timed'] = plugin;
    host.configure({});

    await host.engine.runtime.reload('test');
    const retired = host.engine.runtime.draining.length;
    await host.advance(5_000);

    assert.equal(retired, 0);
    assert.equal(host.rows("SELECT * FROM due WHERE kind = 'cron'").length, 1);
  });
});

describe('what a handler says and how it fails', () => {
  it('names the generation that ran it, and the item or request, though another one serves by then', async (context) => {
    const waiting: (() => void)[] = [];
    const hold = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
    const plugin = definePlugin({
      name: 'late',
      setup(p) {
        p.on('message', { attempts: 1 }, async (ctx) => {
          await hold();
          ctx.log.info('about to fail');
          throw new Error('late');
        });
        p.route('GET /late', { scope: 'none' }, async () => {
          await hold();
          throw new Error('late too');
        });
      },
    });
    const host = await engineHost(context, { modules: { late: plugin } });
    await host.platform.says('x');
    const found = routesOf(host)('GET', 'late', '/late');
    const answer = found !== undefined && 'run' in found ? found.run(request('GET', '/late')) : Promise.resolve();
    const refused = assert.rejects(answer, { code: 'plugin_failed' });
    await host.quiet();
    await host.engine.runtime.reload('test');
    for (const go of waiting) go();
    await refused;
    await host.quiet();

    const [{ id } = { id: '' }] = host.rows<{ id: string }>('SELECT id FROM inbox');
    const lines = host.logs.filter(({ message }) => /fail/.test(message));
    assert.deepEqual(
      lines
        .map(
          ({ message, fields }) => `${message} ${fields['generation']} ${fields['item'] === id ? 'item' : 'request'}`,
        )
        .toSorted(),
      ['about to fail 1 item', 'handler failed 1 item', 'plugin route failed 1 request'],
    );
    const events = host.rows<{ generation: number; data: string }>(
      "SELECT generation, data FROM event_log WHERE type = 'plugin.failed'",
    );
    assert.deepEqual(
      events
        .map(({ generation, data }) => `${generation} ${(JSON.parse(data) as { during: string }).during}`)
        .toSorted(),
      ['1 handling', '1 route'],
    );
    assert.equal(host.engine.runtime.current?.number, 2);
  });
});

const routesOf = ({ engine }: EngineHost) =>
  createPluginRoutes({
    context: engine.context,
    generation: () => engine.runtime.current,
    admit: () => {},
    decide: engine.decide,
    failed: (failed) => engine.pluginFailed(failed),
  });

const request = (method: string, path: string) =>
  ({ method, path, query: {}, headers: {}, body: Buffer.alloc(0), receivedAt: 0 }) as never;
