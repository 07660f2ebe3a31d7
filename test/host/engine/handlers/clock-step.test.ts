// A wall clock that is set back while the host runs (time synchronisation, a machine that is resumed): what waits for its next attempt
// waits no longer than it would have, what is meant for a time of day comes at that time of day.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, retryLater, t } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';

const HOUR = 3_600_000;

describe('a clock that is set back an hour', () => {
  it('holds up no next attempt of an item', async (context) => {
    const attempts: number[] = [];
    const plugin = definePlugin({
      name: 'failing',
      setup(p) {
        p.on('message', {}, (ctx) => {
          attempts.push(ctx.item.attempt);
          if (ctx.item.attempt === 1) throw retryLater('busy', { afterMs: 30_000 });
          if (ctx.item.attempt === 2) throw new Error('once more');
        });
      },
    });
    const host = await engineHost(context, { modules: { failing: plugin } });
    await host.platform.says('x');
    await host.quiet();

    host.clock.step(-HOUR);
    await host.advance(29_000);
    const before = attempts.length;
    await host.advance(1_000);
    const after = attempts.length;
    host.clock.step(-HOUR);
    await host.advance(5_000);

    assert.deepEqual([before, after, attempts], [1, 2, [1, 2, 3]]);
    assert.deepEqual(host.states('inbox'), ['done']);
    assert.ok(host.logs.some(({ level, message }) => level === 'warn' && message.includes('clock was set back')));
  });

  it('holds up no send: neither its next attempt nor its turn', async (context) => {
    const platform = new MemoryPlatform();
    const plugin = definePlugin({
      name: 'echo',
      setup: (p) => p.on('message', {}, (_ctx, { text }) => text),
    });
    const host = await engineHost(context, {
      platform,
      modules: { echo: plugin, memory: platform.make({}, { perSecond: 1 }) },
    });
    let isBusy = true;
    platform.answer = () => (isBusy ? { kind: 'later', afterMs: 60_000 } : { kind: 'sent' });
    await platform.says('one', { from: 'ann' });
    await host.quiet();
    isBusy = false;
    for (const from of ['bob', 'cem', 'dan']) await platform.says('two', { from });
    await host.quiet();

    host.clock.step(-HOUR);
    await platform.says('three', { from: 'eve' });
    await host.advance(5_000);
    const turns = ['bob', 'cem', 'dan', 'eve'].map((person) => platform.said(`dm-${person}`).length);
    await host.advance(60_000);

    assert.deepEqual(turns, [1, 1, 1, 1]);
    assert.deepEqual(platform.said('dm-ann'), ['one']);
  });

  it('leaves alone a task for a time of day, and holds up none that waits so long', async (context) => {
    const fired: (readonly [n: number, at: number])[] = [];
    const plugin = definePlugin({
      name: 'alarm',
      setup(p) {
        const ring = p.task('ring', { data: { n: t.integer() } }, (ctx, { n }) => void fired.push([n, ctx.now()]));
        p.on('message', {}, (ctx) => {
          ctx.schedule(ring, { n: 1 }, { at: ctx.now() + 600_000 });
          ctx.schedule(ring, { n: 2 }, { afterMs: 300_000 });
        });
      },
    });
    const host = await engineHost(context, { modules: { alarm: plugin } });
    const at = host.clock.now() + 600_000;
    await host.platform.says('x');
    await host.quiet();

    host.clock.step(-HOUR);
    const steppedAt = host.clock.now();
    await host.advance(2 * HOUR);

    assert.deepEqual(fired, [
      [2, steppedAt + 300_000],
      [1, at],
    ]);
  });
});

describe('a clock that was ahead, and is put right while the host is down', () => {
  it('holds up no send', async (context) => {
    const platform = new MemoryPlatform();
    const plugin = definePlugin({
      name: 'echo',
      setup: (p) => p.on('message', {}, (_ctx, { text }) => text),
    });
    const host = await engineHost(context, { platform, modules: { echo: plugin } });
    let isBusy = true;
    platform.answer = () => (isBusy ? { kind: 'later', afterMs: 60_000 } : { kind: 'sent' });
    await platform.says('one', { from: 'ann' });
    await host.quiet();
    isBusy = false;

    await host.stop();
    host.clock.step(-30 * 24 * HOUR);
    const next = await host.restart(context);
    await next.quiet();
    const before = platform.said('dm-ann').length;
    await next.advance(61_000);

    assert.deepEqual([before, platform.said('dm-ann')], [0, ['one']]);
  });
});
