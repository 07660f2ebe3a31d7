// Subscriptions: each event once and in order, over restarts, at a cost that does not grow with the history.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineEvent, definePlugin, t } from '../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../support/engine-host.ts';

const said = (host: EngineHost): string[] => host.platform.said('#out');

describe('a subscription', () => {
  const happened = defineEvent('test.happened', t.object({ n: t.string() }));
  const pair = definePlugin({
    name: 'pair',
    setup(p) {
      p.on('message', {}, (ctx, { text }) => ctx.emit(happened, { n: text }));
      p.subscribe(happened, (ctx, { n }) => void ctx.send({ endpoint: 'memory~a', id: '#out' }, n));
    },
  });

  it('gets each event once and in order, over a restart', async (context) => {
    const host = await engineHost(context, { modules: { pair } });
    for (let n = 0; n < 5; n += 1) await host.platform.says(`${n}`);
    await host.quiet();

    const next = await host.restart(context);
    for (let n = 5; n < 10; n += 1) await next.platform.says(`${n}`);
    await next.quiet();

    assert.deepEqual(
      said(next),
      Array.from({ length: 10 }, (_, n) => `${n}`),
    );
  });

  it('gets what happened while it was not pumped', async (context) => {
    const host = await engineHost(context, { modules: { pair } });
    await host.stop();
    host.platform.calls.length = 0;
    const emitter = definePlugin({
      name: 'pair',
      setup(p) {
        p.on('message', {}, (ctx, { text }) => ctx.emit(happened, { n: text }));
      },
    });
    const without = await host.restart(context, { modules: { pair: emitter } });
    await without.platform.says('missed');
    await without.quiet();

    const next = await without.restart(context, { modules: { pair } });
    await next.quiet();

    assert.deepEqual(said(next), ['missed']);
  });

  it('to facts of the inbox does not feed itself', async (context) => {
    const seen: string[] = [];
    const done = { ...defineEvent('test.x', t.object({})), id: 'inbox.done' };
    const plugin = definePlugin({
      name: 'auditor',
      setup(p) {
        p.on('message', {}, () => 'ok');
        p.subscribe(done, (ctx) => void seen.push(ctx.item.id));
      },
    });
    const host = await engineHost(context, { modules: { auditor: plugin } });

    await host.platform.says('x');
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');

    assert.equal(seen.length, 1);
  });

  it('does not look through the same history at each event', async (context) => {
    const host = await engineHost(context, { modules: { pair } });
    await host.platform.says('first');
    await host.quiet();
    const values = Array.from({ length: 5_000 }, () => `(0, 'ready.changed', 1, '${host.core.runtimeId}', '{}', 2)`);
    await host.write(`INSERT INTO event_log (at, type, version, runtime_id, data, bytes) VALUES ${values.join(', ')}`);
    await host.write("UPDATE counters SET value = (SELECT max(seq) FROM event_log) WHERE name = 'event'");
    await host.quiet();
    const asked: number[] = [];
    const { reader } = host.core;
    const all = reader.all.bind(reader);
    reader.all = (query) => {
      const { sql, parameters } = query.compile();
      if (sql.includes('event_log')) asked.push(Number(parameters[0]));
      return all(query);
    };

    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');
    await host.quiet();

    assert.ok(asked.length > 0);
    assert.ok(Math.min(...asked) > 5_000, `${asked}`);
  });
});
