// Handlers: attempts, dead letters, replay, effects that are all there or not at all.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { defineEvent, definePlugin, giveUp, retryLater, t, userError } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

/** A plugin that handles messages by what the test says. */
function scripted(run: (attempt: number, text: string) => string | undefined, options: { attempts?: number } = {}) {
  return definePlugin({
    name: 'scripted',
    setup(p) {
      p.on('message', options, (ctx, event) => run(ctx.item.attempt, event.text));
    },
  });
}

describe('attempts', () => {
  it('come again after 1 s, 5 s, 30 s and 2 min, and end as a dead letter with the error', async (context) => {
    const at: number[] = [];
    const plugin = scripted(() => {
      at.push(host.clock.now());
      throw new Error('broken');
    });
    const host: EngineHost = await engineHost(context, { modules: { scripted: plugin } });

    await host.platform.says('x');
    await host.advance(600_000);

    assert.deepEqual(
      at.map((time) => time - (at[0] ?? 0)),
      [0, 1_000, 6_000, 36_000, 156_000],
    );
    assert.deepEqual(host.states('inbox'), ['dead']);
    assert.equal(host.rows<{ last_error: string }>('SELECT last_error FROM inbox')[0]?.last_error, 'broken');
    assert.deepEqual(
      host.events('inbox.dead').map(({ data }) => data['reason']),
      ['a handler failed: the item has its error'],
      'an exception may quote what a person wrote: no event has it',
    );
    assert.equal(host.events('inbox.waiting').length, 4);
  });

  it('wait as long as the handler says, and a waiting item holds its conversation alone', async (context) => {
    const plugin = scripted((attempt, text) => {
      if (text === 'busy' && attempt === 1) throw retryLater('busy', { afterMs: 60_000 });
      return `${text} ${attempt}`;
    });
    const host = await engineHost(context, { modules: { scripted: plugin } });

    await host.platform.says('busy', { room: 'a' });
    await host.platform.says('next', { room: 'a' });
    await host.platform.says('other', { room: 'b' });
    await host.advance(59_000);
    const before = [host.platform.said('a'), host.platform.said('b')];
    await host.advance(2_000);

    assert.deepEqual(before, [[], ['other 1']]);
    assert.deepEqual(host.platform.said('a'), ['busy 2', 'next 1']);
  });

  it('survive a restart: the wait goes on where it was', async (context) => {
    const plugin = scripted((attempt) => {
      if (attempt < 3) throw new Error('not yet');
      return `attempt ${attempt}`;
    });
    const host = await engineHost(context, { modules: { scripted: plugin } });
    await host.platform.says('x');
    await host.advance(2_000);

    const next = await host.restart(context);
    await next.advance(10_000);

    assert.deepEqual(next.platform.said('dm-ann'), ['attempt 3']);
  });

  it('do not strand an item when the clock steps back between its due time and its attempt', async (context) => {
    const plugin = scripted((attempt) => {
      if (attempt === 1) throw new Error('once');
      return 'done';
    });
    const host = await engineHost(context, { modules: { scripted: plugin } });
    await host.platform.says('x');
    await host.quiet();
    // The due row is taken, then the process dies before the attempt, then the clock steps back.
    const generation = host.engine.runtime.current;
    Object.defineProperty(host.engine.runtime, 'current', { value: undefined, configurable: true });
    await host.advance(1_500);
    assert.equal(generation !== undefined, true);
    host.kill();

    const { ManualClock } = await import('../../../../worker/testing/manual-clock.ts');
    const next = await engineHost(context, {
      modules: { scripted: plugin },
      project: host.project,
      platform: host.platform,
      clock: new ManualClock(host.clock.now() - 3_600_000),
    });
    await next.quiet();

    assert.deepEqual(next.platform.said('dm-ann'), ['done']);
  });

  it('are bounded for an item that ends the process', async (context) => {
    let runs = 0;
    const poison = definePlugin({
      name: 'poison',
      setup(p) {
        p.on('message', {}, () => {
          runs += 1;
          return new Promise(() => {});
        });
      },
    });
    let host = await engineHost(context, { modules: { poison }, config: { inbox: { quarantineSeconds: 0 } } });
    await host.platform.says('x');
    for (let kills = 0; kills < 8; kills += 1) {
      await host.quiet();
      host.kill();
      host = await host.restart(context);
    }
    await host.quiet();

    assert.equal(runs, 5);
    assert.deepEqual(host.states('inbox'), ['dead']);
    assert.match(
      host.rows<{ last_error: string }>('SELECT last_error FROM inbox')[0]?.last_error ?? '',
      /ended the process or was cut 5 times/,
    );
  });

  it('are bounded for an item that ends the process while it is matched', async (context) => {
    const plugin = definePlugin({
      name: 'pattern',
      setup(p) {
        p.on('message', { text: /never/ }, () => 'no');
      },
    });
    let host = await engineHost(context, { modules: { pattern: plugin } });
    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');
    await host.platform.says('x');
    await host.write("UPDATE inbox SET state = 'handling', attempts = 5");
    host.kill();
    host = await host.restart(context);
    await host.engine.gate.set({ state: 'open' } as never, 'op');
    await host.quiet();

    assert.deepEqual(host.states('inbox'), ['dead']);
  });
});

/** One line is said to a plugin that counts. */
async function countsOf(context: TestContext, watcher: ReturnType<typeof definePlugin>) {
  const counts: string[] = [];
  const host = await engineHost(context, {
    modules: { watcher },
    engine: { observer: { counted: (counter) => counts.push(counter) } },
  });
  await host.platform.says('hello');
  await host.quiet();
  return { host, counts };
}

describe('what a handler decided', () => {
  it('is told to the person where it is an error of theirs, without its effects', async (context) => {
    const plugin = definePlugin({
      name: 'strict',
      setup(p) {
        p.command('do', { summary: 'Does', args: {} }, (ctx) => {
          ctx.reply('never seen');
          throw userError('You cannot.');
        });
      },
    });
    const host = await engineHost(context, { modules: { strict: plugin } });

    await host.platform.says('/do');
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['You cannot.']);
    assert.deepEqual(host.states('inbox'), ['done']);
  });

  it('keeps an emitted event of a listener that does nothing else', async (context) => {
    const seen = defineEvent('test.seen', t.object({ text: t.string() }));
    const plugin = definePlugin({
      name: 'watcher',
      setup(p) {
        const counter = p.counter('lines', 'Lines.');
        p.on('message', { order: 'before' }, (ctx, event) => {
          ctx.emit(seen, { text: event.text });
          ctx.count(counter);
        });
        p.on('message', {}, () => 'ok');
      },
    });
    const { host, counts } = await countsOf(context, plugin);

    assert.deepEqual(
      host.events('test.seen').map(({ data }) => data),
      [{ text: 'hello' }],
    );
    assert.equal(counts.length, 1);
  });

  it('counts even where nothing else is decided', async (context) => {
    const plugin = definePlugin({
      name: 'watcher',
      setup(p) {
        const counter = p.counter('lines', 'Lines.');
        p.on('message', { order: 'before' }, (ctx) => ctx.count(counter));
        p.on('message', {}, () => 'ok');
      },
    });
    const { counts } = await countsOf(context, plugin);

    assert.equal(counts.length, 1);
  });

  it('is refused when the handler runs over its time, and the next attempt can hold', async (context) => {
    const plugin = definePlugin({
      name: 'slow',
      setup(p) {
        p.on('message', { timeoutMs: 1_000 }, (ctx) =>
          ctx.item.attempt === 1 ? new Promise<string>(() => {}) : 'in time',
        );
      },
    });
    const host = await engineHost(context, { modules: { slow: plugin } });

    await host.platform.says('x');
    await host.advance(5_000);

    assert.deepEqual(host.platform.said('dm-ann'), ['in time']);
  });

  it('ends over its time without an end of the process, whatever listens for that throws', async (context) => {
    const never = definePlugin({
      name: 'never',
      setup(p) {
        p.on('message', { timeoutMs: 1_000, attempts: 1 }, (ctx) => {
          ctx.signal.addEventListener('abort', () => {
            throw new Error('over and out');
          });
          return new Promise<never>(() => {});
        });
      },
    });
    const host = await engineHost(context, { modules: { never } });
    await host.platform.says('hi');
    await host.quiet();

    await host.advance(1_000);

    assert.deepEqual(host.states('inbox'), ['dead']);
    const told = host.logs.find(({ message }) => message === 'a listener of ctx.signal failed');
    assert.match(String(told?.fields['err']), /over and out/);
  });

  it('leaves nothing behind on its own signal and on that of its generation', async (context) => {
    const signals: AbortSignal[] = [];
    const plugin = definePlugin({
      name: 'scripted',
      setup(p) {
        p.on('message', {}, (ctx) => void signals.push(ctx.signal));
      },
    });
    const host = await engineHost(context, { modules: { scripted: plugin } });
    const signal = host.engine.runtime.current?.signal;
    assert.ok(signal);
    const before = getEventListeners(signal, 'abort').length;

    for (let n = 0; n < 20; n += 1) await host.platform.says(`${n}`);
    await host.quiet();

    assert.equal(signals.length, 20);
    assert.equal(getEventListeners(signal, 'abort').length, before);
    assert.deepEqual(
      signals.map((one) => getEventListeners(one, 'abort').length),
      Array(20).fill(0),
    );
  });

  it('holds back only the failing one of several handlers, and the item still ends as a dead letter', async (context) => {
    const plugin = definePlugin({
      name: 'two',
      setup(p) {
        p.on('message', { attempts: 1 }, () => {
          throw giveUp('never');
        });
        p.on('message', {}, (ctx) => {
          if (ctx.item.attempt === 1) throw new Error('once');
          return 'second';
        });
      },
    });
    const host = await engineHost(context, { modules: { two: plugin } });

    await host.platform.says('x');
    await host.advance(5_000);

    assert.deepEqual(host.platform.said('dm-ann'), ['second']);
    assert.deepEqual(host.states('inbox'), ['dead']);
    assert.equal(host.rows<{ last_error: string }>('SELECT last_error FROM inbox')[0]?.last_error, 'never');
  });
});
