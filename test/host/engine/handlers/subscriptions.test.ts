// Subscriptions: each event once and in order, over restarts, at a cost that does not grow with the history.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { trimEvents } from '../../../../worker/events/retention.ts';
import { type Ctx, defineEvent, definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

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

  describe('that is behind the oldest event that is kept', () => {
    const gaps = (host: EngineHost): unknown[] => host.events('subscription.gap').map(({ data }) => data);
    const trimmed = async (host: EngineHost, keep = 0): Promise<number> => {
      const head = host.events().at(-1)?.seq ?? 0;
      for (const { sql, parameters } of trimEvents(head - keep)) await host.write(sql, ...parameters);
      return head;
    };
    const emitter = definePlugin({
      name: 'pair',
      setup(p) {
        p.on('message', {}, (ctx, { text }) => ctx.emit(happened, { n: text }));
      },
    });
    const listener = (missed?: (atMost: number) => void) =>
      definePlugin({
        name: 'pair',
        setup(p) {
          const to = { endpoint: 'memory~a', id: '#out' };
          p.on('message', {}, (ctx, { text }) => ctx.emit(happened, { n: text }));
          const spec = {
            missed: (ctx: Ctx, { atMost }: { readonly atMost: number }) => {
              missed?.(atMost);
              ctx.send(to, 'some are missing');
            },
          };
          p.subscribe(happened, (ctx, { n }) => void ctx.send(to, n), missed === undefined ? undefined : spec);
        },
      });

    it('hears of the gap once, in its place, and goes on behind it, over a restart', async (context) => {
      const told: number[] = [];
      const plugin = listener((atMost) => void told.push(atMost));
      const host = await engineHost(context, { modules: { pair: plugin } });
      await host.platform.says('1');
      await host.quiet();
      const without = await host.restart(context, { modules: { pair: emitter } });
      for (const text of ['2', '3']) await without.platform.says(text);
      await without.quiet();
      const head = await trimmed(without);
      await without.platform.says('4');
      await without.quiet();

      const next = await without.restart(context, { modules: { pair: plugin } });
      await next.quiet();
      const last = await next.restart(context, {});
      await last.platform.says('5');
      await last.quiet();

      assert.deepEqual(said(last), ['1', 'some are missing', '4', '5']);
      assert.equal(told.length, 1);
      assert.ok((told[0] ?? 0) > 0 && (told[0] ?? 0) < head, `${told}`);
      assert.deepEqual(gaps(last), [{ capability: 'root/pair#subscribe/test.happened', atMost: told[0] }]);
    });

    it('has it in the log and as an event where it has no handler for it', async (context) => {
      const host = await engineHost(context, { modules: { pair: listener() } });
      await host.platform.says('1');
      await host.quiet();
      const without = await host.restart(context, { modules: { pair: emitter } });
      await without.platform.says('2');
      await without.quiet();
      await trimmed(without);

      const next = await without.restart(context, { modules: { pair: listener() } });
      await next.quiet();

      assert.deepEqual(said(next), ['1']);
      assert.equal(gaps(next).length, 1);
      assert.ok(next.logs.some(({ message }) => message === 'events were trimmed before a subscriber got them'));
    });

    it('is told of none where nothing of its type was missed: what it has looked through is stored', async (context) => {
      const host = await engineHost(context, { modules: { pair: listener() } });
      for (let pause = 0; pause < 5; pause += 1) {
        await host.engine.gate.set({ state: pause % 2 === 0 ? 'paused' : 'open', mode: 'park' } as never, 'op');
        await host.quiet();
      }
      await host.advance(31_000);
      await trimmed(host);
      host.kill();

      const next = await host.restart(context, {});
      await next.quiet();

      assert.deepEqual(gaps(next), []);
    });
  });
});
