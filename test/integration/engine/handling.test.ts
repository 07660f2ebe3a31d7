// Handlers: attempts, dead letters, replay, effects that are all there or not at all.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { createInboxAdmin } from '../../../worker/inbox/inbox-admin.ts';
import { defineEvent, definePlugin, giveUp, retryLater, t, userError } from '../../../worker/sdk/index.ts';
import { type EngineHost, engineHost, type HostOptions } from '../../support/engine-host.ts';

const caller = { actor: 'test', scope: 'full' } as never;
const adminOf = ({ core, engine }: EngineHost) =>
  createInboxAdmin({ core, inbox: engine.inbox, dispatcher: engine.dispatcher });
const firstId = (host: EngineHost): string =>
  host.rows<{ id: string }>('SELECT id FROM inbox ORDER BY seq')[0]?.id ?? '';

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

    const { ManualClock } = await import('../../../worker/sdk/testing/manual-clock.ts');
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
    let host = await engineHost(context, { modules: { poison } });
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
    const host = await engineHost(context, { modules: { pattern: plugin } });
    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');
    await host.platform.says('x');
    await host.write("UPDATE inbox SET state = 'handling', attempts = 5");
    await host.engine.gate.set({ state: 'open' } as never, 'op');
    await host.quiet();

    assert.deepEqual(host.states('inbox'), ['dead']);
  });
});

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
    const counts: string[] = [];
    const host = await engineHost(context, {
      modules: { watcher: plugin },
      engine: { observer: { counted: (counter) => counts.push(counter) } },
    });

    await host.platform.says('hello');
    await host.quiet();

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
    const counts: string[] = [];
    const host = await engineHost(context, {
      modules: { watcher: plugin },
      engine: { observer: { counted: (counter) => counts.push(counter) } },
    });

    await host.platform.says('hello');
    await host.quiet();

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

  it('leaves nothing behind on its own signal and on that of its generation', async (context) => {
    const signals: AbortSignal[] = [];
    const plugin = definePlugin({
      name: 'scripted',
      setup(p) {
        p.on('message', {}, (ctx) => void signals.push(ctx.signal));
      },
    });
    const host = await engineHost(context, { modules: { scripted: plugin } });

    for (let n = 0; n < 20; n += 1) await host.platform.says(`${n}`);
    await host.quiet();

    const signal = host.engine.runtime.current?.signal;
    assert.ok(signal);
    assert.equal(signals.length, 20);
    assert.deepEqual(
      [signal, ...signals].map((one) => getEventListeners(one, 'abort').length),
      Array(21).fill(0),
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

describe('a dead letter', () => {
  const failingCommand = (works: () => boolean): HostOptions => ({
    modules: {
      tool: definePlugin({
        name: 'tool',
        setup(p) {
          p.on('message', { order: 'before' }, () => 'heard');
          p.command('do', { summary: 'Does', args: {}, attempts: 1 }, () => {
            if (!works()) throw new Error('broken');
            return 'done';
          });
        },
      }),
    },
  });

  it('can be replayed: what was finished stays finished', async (context) => {
    let works = false;
    const host = await engineHost(
      context,
      failingCommand(() => works),
    );
    await host.platform.says('/do');
    await host.quiet();
    const before = host.platform.said('dm-ann');

    works = true;
    await adminOf(host).replay(firstId(host), { caller, revision: undefined, answer: undefined });
    await host.quiet();

    assert.match(before.join('|'), /^heard\|Sorry, that failed \([0-9a-f]{12}\)\.$/);
    assert.deepEqual(host.platform.said('dm-ann').slice(2), ['done']);
    assert.deepEqual(host.states('inbox'), ['done']);
  });

  it('can be replayed in vain, as often as one likes', async (context) => {
    const host = await engineHost(
      context,
      failingCommand(() => false),
    );
    await host.platform.says('/do');
    await host.quiet();

    for (let n = 0; n < 3; n += 1) {
      await host.advance(10);
      await adminOf(host).replay(firstId(host), { caller, revision: undefined, answer: undefined });
      await host.quiet();
      assert.deepEqual(host.states('inbox'), ['dead']);
    }

    assert.equal(host.platform.said('dm-ann').filter((text) => text.startsWith('Sorry')).length, 4);
    assert.equal(host.logs.filter(({ message }) => message.includes('could not be run')).length, 0);
  });

  it('can be dropped, and is not replayed afterwards', async (context) => {
    const host = await engineHost(
      context,
      failingCommand(() => false),
    );
    await host.platform.says('/do');
    await host.quiet();
    const admin = adminOf(host);

    await admin.drop(firstId(host), { caller, revision: undefined, reason: 'nobody cares' });

    assert.deepEqual(host.states('inbox'), ['done']);
    await assert.rejects(admin.replay(firstId(host), { caller, revision: undefined, answer: undefined }), {
      code: 'conflict',
    });
    assert.deepEqual(
      host.events('inbox.dropped').map(({ data }) => data['reason']),
      ['nobody cares'],
    );
  });
});

describe('once', () => {
  const calling = (unsure: 'again' | 'hold', calls: string[], hang: () => boolean) =>
    definePlugin({
      name: 'caller',
      setup(p) {
        p.on('message', {}, async (ctx) => {
          const result = await ctx.once(
            'call',
            async ({ key }) => {
              calls.push(key);
              if (hang()) await new Promise(() => {});
              return { n: calls.length };
            },
            { unsure },
          );
          return `result ${result.n}`;
        });
      },
    });

  it('calls again under the same key after a death in the call', async (context) => {
    const calls: string[] = [];
    let hangs = true;
    const host = await engineHost(context, { modules: { caller: calling('again', calls, () => hangs) } });
    await host.platform.says('x');
    await host.quiet();
    host.kill();
    hangs = false;

    const next = await host.restart(context);
    await next.quiet();

    assert.equal(calls.length, 2);
    assert.equal(calls[0], calls[1]);
    assert.deepEqual(next.platform.said('dm-ann'), ['result 2']);
  });

  it('never calls twice where it is told to hold; a person decides', async (context) => {
    const calls: string[] = [];
    let hangs = true;
    const host = await engineHost(context, { modules: { caller: calling('hold', calls, () => hangs) } });
    await host.platform.says('x');
    await host.quiet();
    host.kill();
    hangs = false;
    const next = await host.restart(context);
    await next.quiet();
    const held = [calls.length, ...next.states('inbox')];

    await adminOf(next).replay(firstId(next), { caller, revision: undefined, answer: 'again' });
    await next.quiet();

    assert.deepEqual(held, [1, 'dead']);
    assert.match(
      next.rows<{ last_error: string }>('SELECT last_error FROM inbox')[0]?.last_error ?? '',
      /call: an earlier attempt died/,
    );
    assert.equal(calls.length, 2);
    assert.deepEqual(next.platform.said('dm-ann'), ['result 2']);
  });

  it('asks for the decision before it replays a held call', async (context) => {
    const calls: string[] = [];
    let hangs = true;
    const host = await engineHost(context, { modules: { caller: calling('hold', calls, () => hangs) } });
    await host.platform.says('x');
    await host.quiet();
    host.kill();
    hangs = false;
    const next = await host.restart(context);
    await next.quiet();

    await assert.rejects(adminOf(next).replay(firstId(next), { caller, revision: undefined, answer: undefined }), {
      code: 'conflict',
    });

    assert.equal(calls.length, 1);
  });
});

describe('dialogs and buttons', () => {
  const size = t.enum(['small', 'large'], { title: 'Which size?' });
  const order = definePlugin({
    name: 'order',
    setup(p) {
      const dialog = p.dialog(
        'order',
        { answers: { size, street: t.string({ title: 'Where to?' }) } },
        (_ctx, a) => `${a.size} to ${a.street}`,
      );
      p.command('order', { summary: 'Orders', args: {} }, (ctx) => ctx.ask(dialog, {}));
    },
  });
  const vote = definePlugin({
    name: 'vote',
    setup(p) {
      const press = p.action('press', { data: { n: t.integer() } }, (_ctx, { n }) => `pressed ${n}`);
      p.command('vote', { summary: 'Votes', args: {} }, () => ({
        text: 'Which?',
        buttons: [press.button('one', { n: 1 }), press.button('two', { n: 2 })],
      }));
    },
  });

  it('go on over a restart between all answers', async (context) => {
    let host = await engineHost(context, { modules: { order } });
    for (const line of ['/order', 'large', '12 High Street']) {
      await host.platform.says(line);
      await host.quiet();
      host = await host.restart(context);
    }

    assert.deepEqual(host.platform.said('dm-ann'), ['Which size?', 'Where to?', 'large to 12 High Street']);
  });

  it('press a button after a restart', async (context) => {
    const host = await engineHost(context, { modules: { vote } });
    await host.platform.says('/vote');
    await host.quiet();

    const next = await host.restart(context);
    await next.platform.presses('two');
    await next.quiet();

    assert.deepEqual(next.platform.said('dm-ann'), ['Which?', 'pressed 2']);
  });

  it('take a bare number where the platform has no buttons, from anyone there', async (context) => {
    const { MemoryPlatform } = await import('../../support/memory-platform.ts');
    const host = await engineHost(context, { modules: { vote }, platform: new MemoryPlatform({ buttons: 0 }) });
    await host.platform.says('/vote', { room: 'r' });
    await host.quiet();

    await host.platform.says('1', { room: 'r', from: 'bob' });
    await host.quiet();

    assert.deepEqual(host.platform.said('r'), ['Which?\n1) one\n2) two', 'pressed 1']);
  });
});
