// What a crash does to waits and bounds: an attempt that it cut counts as an attempt, and makes nobody wait longer.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

/** Nothing is set aside: it runs again at once. */
const config = { inbox: { quarantineSeconds: 0 } };
const NEVER = new Promise<never>(() => {});
const echo = definePlugin({
  name: 'echo',
  setup(p) {
    p.on('message', {}, (_ctx, event) => `re ${event.text}`);
  },
});
const waitOf = (host: EngineHost, table: 'inbox' | 'outbox'): number => {
  const [row] = host.rows<{ next_at: number }>(`SELECT next_at FROM ${table}`);
  return (row?.next_at ?? 0) - host.clock.now();
};

describe('an attempt that a crash cut', () => {
  it('does not make a handler wait longer', async (t) => {
    let runs = 0;
    const plugin = definePlugin({
      name: 'x',
      setup(p) {
        p.on('message', {}, () => {
          runs += 1;
          if (runs <= 3) return NEVER;
          throw new Error('not yet');
        });
      },
    });
    let host = await engineHost(t, { modules: { x: plugin }, config });
    await host.platform.says('x');
    for (let kills = 0; kills < 3; kills += 1) {
      await host.quiet();
      host.kill();
      host = await host.restart(t);
    }
    await host.quiet();

    assert.equal(waitOf(host, 'inbox'), 1_000);
    await host.advance(1_000);
    assert.equal(runs, 5);
    assert.deepEqual(host.states('inbox'), ['dead'], 'the bound counts the cut attempts too');
  });

  it('does not make a send wait longer', async (t) => {
    let calls = 0;
    const platform = new MemoryPlatform();
    platform.answer = () => {
      calls += 1;
      if (calls <= 3) return NEVER;
      throw new Error('down');
    };
    let host = await engineHost(t, { modules: { echo }, platform, config });
    await platform.says('x');
    for (let kills = 0; kills < 3; kills += 1) {
      await host.quiet();
      host.kill();
      host = await host.restart(t);
    }
    await host.quiet();
    const waits = [waitOf(host, 'outbox')];
    await host.advance(1_000);
    waits.push(waitOf(host, 'outbox'));

    assert.deepEqual(waits, [1_000, 5_000]);
    assert.equal(host.rows<{ attempts: number }>('SELECT attempts FROM outbox')[0]?.attempts, 5);
  });
});

describe('a send that ends the process each time', () => {
  it('is a dead letter in the end; those beside it go out, each a few times at most', async (t) => {
    const platform = new MemoryPlatform({ idempotent: false });
    const seen = new Map<string, number>();
    let isDying = false;
    // Nothing that is under way when the guilty one is called comes to its end.
    platform.answer = async (call) => {
      const text = 'text' in call ? call.text : '';
      seen.set(text, (seen.get(text) ?? 0) + 1);
      if (text === 're bad') isDying = true;
      await new Promise((resolve) => setImmediate(resolve));
      return isDying ? NEVER : { kind: 'sent' };
    };
    let host = await engineHost(t, { modules: { echo }, platform, config });
    for (const room of ['1', '2', 'bad', '3', '4']) await platform.says(room, { room });
    let deaths = 0;
    for (; deaths < 20; deaths += 1) {
      await host.until('a death, or the end', () => isDying || isOver(host));
      if (!isDying) break;
      await host.quiet();
      host.kill();
      isDying = false;
      host = await host.restart(t);
    }

    assert.equal(deaths, 8);
    assert.equal(seen.get('re bad'), 8);
    assert.deepEqual(host.states('outbox').toSorted(), ['dead', 'sent', 'sent', 'sent', 'sent']);
    for (const [text, times] of seen) if (text !== 're bad') assert.ok(times <= 3, `${text} was sent ${times} times`);
    assert.match(
      host.rows<{ last_error: string }>("SELECT last_error FROM outbox WHERE state = 'dead'")[0]?.last_error ?? '',
      /ended without a result \(after 8 attempts\)/,
    );
  });
});

const isOver = (host: EngineHost): boolean => {
  const states = host.states('outbox');
  return states.length === 5 && states.every((state) => state === 'dead' || state === 'sent');
};
