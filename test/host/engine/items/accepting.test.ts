// Taking in and handling: once, in order, side by side, bounded.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const echo = definePlugin({
  name: 'echo',
  setup(p) {
    p.on('message', {}, (_ctx, event) => `you said ${event.text}`);
  },
});

/** A handler that waits for the test, by text. */
function gated() {
  const opened = new Map<string, () => void>();
  const started: string[] = [];
  const plugin = definePlugin({
    name: 'gated',
    setup(p) {
      p.on('message', {}, async (_ctx, event) => {
        started.push(event.text);
        await new Promise<void>((resolve) => opened.set(event.text, resolve));
        return `done ${event.text}`;
      });
    },
  });
  return { plugin, started, open: (text: string) => opened.get(text)?.() };
}

describe('taking in', () => {
  it('takes and handles what holds half a character, in any of its names', async (t) => {
    const host = await engineHost(t, { modules: { echo } });

    await host.platform.says('half \ud83d', { room: 'room \ud83d', from: 'ann \udc00' });
    await host.quiet();

    assert.deepEqual([host.states('inbox'), host.states('outbox')], [['done'], ['sent']]);
  });

  it('takes a delivery id once, over a reopened database too', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    await host.platform.says('hi', { id: 'same' });
    await host.platform.says('hi', { id: 'same' });
    await host.quiet();

    const next = await host.restart(t);
    await next.platform.says('hi', { id: 'same' });
    await next.quiet();

    assert.deepEqual(next.platform.said('dm-ann'), ['you said hi']);
    assert.deepEqual(next.states('inbox'), ['done']);
    assert.equal(next.events('inbox.received').length, 1);
  });

  it('does not store the same id with another body, and says so once', async (t) => {
    const counted: boolean[] = [];
    const host = await engineHost(t, {
      modules: { echo },
      engine: { observer: { duplicate: (_endpoint, conflict) => counted.push(conflict) } },
    });

    await host.platform.says('one', { id: 'same' });
    await host.platform.says('two', { id: 'same' });
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['you said one']);
    assert.deepEqual(counted, [true]);
    assert.equal(host.events('inbox.duplicate_conflict').length, 1);
    assert.equal(host.logs.filter(({ level }) => level === 'warn').length, 1);
  });

  it('calls a repeat that differs only in the time of sending a repeat', async (t) => {
    const counted: boolean[] = [];
    const host = await engineHost(t, {
      modules: { echo },
      engine: { observer: { duplicate: (_endpoint, conflict) => counted.push(conflict) } },
    });
    const arrival = {
      id: 'same',
      conversation: { id: 'r', kind: 'group' },
      user: { id: 'ann', name: 'ann', admin: false },
      kind: 'message',
      message: 'm',
      text: 'hi',
    } as const;

    await host.platform.arrive({ ...arrival, sentAt: 1 });
    await host.platform.arrive({ ...arrival, sentAt: 2 });

    assert.deepEqual(counted, [false]);
  });

  it('keeps the order of a conversation and runs others beside it', async (t) => {
    const { plugin, started, open } = gated();
    const host = await engineHost(t, { modules: { gated: plugin } });
    for (const text of ['a1', 'a2']) await host.platform.says(text, { room: 'a' });
    await host.platform.says('b1', { room: 'b' });
    await host.quiet();
    const before = [...started];

    open('b1');
    await host.quiet();
    open('a1');
    await host.quiet();
    open('a2');
    await host.quiet();

    assert.deepEqual(before, ['a1', 'b1']);
    assert.deepEqual(started, ['a1', 'b1', 'a2']);
    assert.deepEqual(
      host.platform.calls.map(({ call }) => 'text' in call && call.text),
      ['done b1', 'done a1', 'done a2'],
    );
  });

  it('handles everybody else beside one slow handler', async (t) => {
    const { plugin, open } = gated();
    const host = await engineHost(t, { modules: { gated: plugin } });
    await host.platform.says('slow', { from: 'slow' });
    await host.quiet();

    for (let n = 0; n < 100; n += 1) await host.platform.says(`q${n}`, { from: `u${n}` });
    for (let n = 0; n < 100; n += 1) {
      await host.quiet();
      open(`q${n}`);
    }
    await host.quiet();

    assert.equal(host.platform.calls.length, 100);
    open('slow');
  });

  it('refuses when it is full, stores nothing then, and takes in again when there is room', async (t) => {
    const { plugin, open } = gated();
    const host = await engineHost(t, { modules: { gated: plugin }, config: { inbox: { maxPending: 2 } } });
    await host.platform.says('1', { room: '1' });
    await host.platform.says('2', { room: '2' });
    await host.quiet();

    await assert.rejects(host.platform.says('3', { room: '3' }), { code: 'inbox_full' });
    const stored = host.states('inbox').length;
    open('1');
    await host.quiet();
    await host.platform.says('4', { room: '4' });

    assert.equal(stored, 2);
    assert.deepEqual(host.engine.inbox.pending.items, 2);
    await assert.rejects(host.platform.says('5', { room: '5' }), { code: 'inbox_full' });
  });

  it('counts what is being stored: many at once do not pass the bound together', async (t) => {
    const { plugin } = gated();
    const host = await engineHost(t, { modules: { gated: plugin }, config: { inbox: { maxPending: 10 } } });

    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => host.platform.says(`${n}`, { room: `${n}` })),
    );

    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 10);
    assert.equal(host.engine.inbox.pending.items, 10);
  });

  it('counts what waits the same after drops, replays and a restart', async (t) => {
    const failing = definePlugin({
      name: 'failing',
      setup(p) {
        p.on('message', { attempts: 1 }, () => {
          throw new Error('no');
        });
      },
    });
    const host = await engineHost(t, { modules: { failing } });
    await host.platform.says('x');
    await host.quiet();
    const { replay, drop, id } = await adminOf(host);
    assert.deepEqual(host.engine.inbox.pending, { items: 0, bytes: 0 });

    host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'test').catch(assert.fail);
    await host.quiet();
    await replay(id);
    const afterReplay = host.engine.inbox.pending;
    await drop(id);

    assert.equal(afterReplay.items, 1);
    assert.ok(afterReplay.bytes > 0);
    assert.deepEqual(host.engine.inbox.pending, { items: 0, bytes: 0 });
    const next = await host.restart(t);
    assert.deepEqual(next.engine.inbox.pending, { items: 0, bytes: 0 });
  });

  it('releases an item once that an operator drops while its handler runs', async (t) => {
    const { plugin, open } = gated();
    const host = await engineHost(t, { modules: { gated: plugin } });
    await host.platform.says('mine', { room: '1' });
    await host.platform.says('other', { room: '2' });
    await host.quiet();
    const { drop, id } = await adminOf(host);

    await drop(id);
    open('mine');
    await host.quiet();

    assert.equal(host.engine.inbox.pending.items, 1);
    assert.deepEqual(host.platform.said('1'), [], 'what it decided is not committed');
    assert.deepEqual(host.states('inbox'), ['done', 'handling']);
    open('other');
    await host.quiet();
  });
});

async function adminOf(host: EngineHost) {
  const { createInboxAdmin } = await import('../../../../worker/inbox/inbox-admin.ts');
  const admin = createInboxAdmin({ core: host.core, inbox: host.engine.inbox, dispatcher: host.engine.dispatcher });
  const [row] = host.rows<{ id: string }>('SELECT id FROM inbox ORDER BY seq');
  const caller = { actor: 'test', scope: 'full' } as never;
  return {
    id: row?.id ?? '',
    replay: async (id: string, answer?: 'again' | 'done') => {
      const result = await admin.replay(id, { caller, revision: undefined, answer });
      return result;
    },
    drop: (id: string) => admin.drop(id, { caller, revision: undefined, reason: 'test' }),
  };
}

describe('what nobody listens to', () => {
  const ping = definePlugin({
    name: 'ping',
    setup(p) {
      p.command('ping', { summary: 'Answers', args: {} }, () => 'pong');
    },
  });

  it('is over in the unit that stores it, with both events', async (t) => {
    const handled: string[] = [];
    const host = await engineHost(t, {
      modules: { ping },
      engine: { observer: { handled: (_row, outcome) => handled.push(outcome) } },
    });
    const before = host.commits;
    await host.platform.says('nothing to anybody');
    await host.quiet();

    assert.equal(host.commits - before, 1);
    assert.deepEqual(host.states('inbox'), ['done']);
    assert.equal(host.events('inbox.received').length, 1);
    assert.equal(host.events('inbox.done').length, 1);
    assert.deepEqual(handled, ['done']);
    assert.deepEqual(host.engine.inbox.pending, { items: 0, bytes: 0 });
  });

  it('does not hold up the next of its lane that nobody listens to either', async (t) => {
    const host = await engineHost(t, { modules: { ping } });
    const before = host.commits;
    await Promise.all(['one', 'two', 'three'].map((text) => host.platform.says(text)));
    await host.quiet();

    assert.equal(host.commits - before, 1, 'one group of three units, and nothing after it');
    assert.deepEqual(host.states('inbox'), ['done', 'done', 'done']);
  });

  it('waits in its lane behind what is open, which may ask for it', async (test) => {
    const asking = definePlugin({
      name: 'asking',
      setup(p) {
        const dialog = p.dialog(
          'name',
          { answers: { name: t.string({ title: 'Who are you?' }) } },
          (_ctx, { name }) => `hello ${name}`,
        );
        p.command('hello', { summary: 'Asks', args: {} }, (ctx) => ctx.ask(dialog, {}));
      },
    });
    const host = await engineHost(test, { modules: { asking } });
    await Promise.all([host.platform.says('/hello'), host.platform.says('Ann')]);
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['Who are you?', 'hello Ann']);
  });

  it('is parked while ingress is, and handled by what is there when it opens', async (t) => {
    const host = await engineHost(t, { modules: { ping } });
    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');
    await host.platform.says('nothing to anybody');
    await host.quiet();
    assert.deepEqual(host.states('inbox'), ['received']);

    await host.engine.gate.set({ state: 'open' } as never, 'op');
    await host.quiet();
    assert.deepEqual(host.states('inbox'), ['done']);
  });

  it('counts as open again after a restart, lane by lane', async (t) => {
    const { plugin } = gated();
    const host = await engineHost(t, { modules: { gated: plugin, ping } });
    await host.platform.says('one');
    await host.quiet();
    host.kill();
    const next = await host.restart(t);

    assert.equal(next.engine.inbox.pending.items, 1);
  });
});
