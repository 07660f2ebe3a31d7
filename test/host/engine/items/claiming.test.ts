// When the attempt at an item or a send is counted: with the unit that stores it where its lane is idle, with the one that ends its
// forerunner where it waits, by itself elsewhere. Always before anything of a plugin or a platform runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDispatcher } from '../../../../worker/inbox/dispatcher.ts';
import type { InboxRow } from '../../../../worker/inbox/inbox-store.ts';
import { JustCommitted } from '../../../../worker/lanes/just-committed.ts';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';
import { until } from '../../../support/until.ts';

const echo = definePlugin({
  name: 'echo',
  setup(p) {
    p.on('message', {}, (_ctx, event) => `re ${event.text}`);
  },
});

/** Waits for the test at the first message of a conversation. */
function slow() {
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const plugin = definePlugin({
    name: 'slow',
    setup(p) {
      p.on('message', {}, async (_ctx, event) => {
        if (event.text === '1') await gate;
        return `re ${event.text}`;
      });
    },
  });
  return { plugin, open };
}

const attempts = (host: EngineHost, table: 'inbox' | 'outbox'): number[] =>
  host.rows<{ attempts: number }>(`SELECT attempts FROM ${table} ORDER BY seq`).map((row) => row.attempts);

describe('claiming', () => {
  it('answers with three commits where nothing waits, each attempt counted once', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    const before = host.commits;

    await host.platform.says('hi');
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['re hi']);
    assert.equal(host.commits - before, 3);
    assert.deepEqual([attempts(host, 'inbox'), attempts(host, 'outbox')], [[1], [1]]);
  });

  it('takes a send that is read from the disk before its commit was answered for what it is: not begun', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    const { writer } = host.core;
    const commit = writer.commit.bind(writer);
    writer.commit = async (unit) => {
      const answer = await commit(unit);
      if (unit.name !== 'inbox.handled') return answer;
      host.engine.sender.wake();
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return answer;
    };

    await host.platform.says('hi');
    await until(() => host.states('outbox')[0] === 'sent', { what: 'the answer to be sent' });

    assert.deepEqual(host.platform.said('dm-ann'), ['re hi']);
    assert.deepEqual(attempts(host, 'outbox'), [1]);
    assert.deepEqual(
      host.logs.filter(({ level }) => level === 'warn'),
      [],
    );
  });

  it('counts the attempt on disk before a plugin runs', async (t) => {
    const { plugin, open } = slow();
    const host = await engineHost(t, { modules: { slow: plugin } });

    await host.platform.says('1');

    assert.deepEqual(host.rows('SELECT state, attempts FROM inbox'), [{ state: 'handling', attempts: 1 }]);
    open();
  });

  it('asks no pattern of a plugin before the attempt is counted on disk, in an idle lane and in a busy one', async (t) => {
    for (const isBusy of [false, true]) {
      const seen: unknown[] = [];
      let host: EngineHost | undefined;
      /** Tells when it is first asked: from then on the host has one of its own. */
      class Watched extends RegExp {
        override get source(): string {
          seen.push(...(host?.rows("SELECT state, attempts FROM inbox WHERE delivery_id = 'edited'") ?? []));
          return super.source;
        }
      }
      const { plugin, open } = slow();
      const watcher = definePlugin({
        name: 'watcher',
        setup(p) {
          p.on('edited', { name: 'watched', text: new Watched('x') }, () => 'seen');
        },
      });
      host = await engineHost(t, { modules: { slow: plugin, watcher } });
      if (isBusy) await host.platform.says('1');
      await host.platform.arrive(
        {
          id: 'edited',
          conversation: { id: 'dm-ann', kind: 'private' },
          user: { id: 'ann', name: 'ann', admin: false },
          sentAt: 0,
          kind: 'edited',
          message: 'm1',
          text: 'x',
        },
        'root/memory:memory~a',
      );
      assert.equal(seen.length, isBusy ? 0 : 1);
      open();
      await host.quiet();

      assert.deepEqual(seen, [{ state: 'handling', attempts: 1 }]);
      assert.deepEqual(host.platform.said('dm-ann'), isBusy ? ['re 1', 'seen'] : ['seen']);
    }
  });

  it('counts what waits with the end of what runs', async (t) => {
    const { plugin, open } = slow();
    const host = await engineHost(t, { modules: { slow: plugin } });
    for (const text of ['1', '2', '3', '4']) await host.platform.says(text);
    await host.quiet();
    const waiting = attempts(host, 'inbox');
    const before = host.commits;

    open();
    await host.quiet();

    assert.deepEqual(waiting, [1, 0, 0, 0]);
    assert.deepEqual(host.platform.said('dm-ann'), ['re 1', 're 2', 're 3', 're 4']);
    assert.ok(host.commits - before <= 9, `${host.commits - before} commits for 4 answers`);
    assert.deepEqual([attempts(host, 'inbox'), attempts(host, 'outbox')], [Array(4).fill(1), Array(4).fill(1)]);
  });

  it('goes on when what would follow was ended by somebody else', async (t) => {
    const { plugin, open } = slow();
    const host = await engineHost(t, { modules: { slow: plugin } });
    for (const text of ['1', '2', '3']) await host.platform.says(text);
    await host.quiet();
    await host.write("UPDATE inbox SET state = 'done', done_at = received_at WHERE seq = 2");

    open();
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['re 1', 're 3']);
    assert.deepEqual(host.states('inbox'), ['done', 'done', 'done']);
    assert.deepEqual(attempts(host, 'inbox'), [1, 0, 1]);
  });

  it('frees the lane of a delivery that turns out to be a repeat', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    await host.platform.says('hi', { id: 'same' });
    await host.quiet();

    await host.platform.says('hi', { id: 'same' });
    await host.platform.says('more');
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['re hi', 're more']);
    assert.deepEqual(host.engine.inbox.pending, { items: 0, bytes: 0 });
  });

  it('runs again after a death what was claimed as it was stored', async (t) => {
    const { plugin } = slow();
    const host = await engineHost(t, { modules: { slow: plugin } });
    await host.platform.says('1');
    await host.platform.says('2');
    host.kill();

    const next = await host.restart(t, { modules: { echo } });
    await next.quiet();

    assert.deepEqual(next.platform.said('dm-ann'), ['re 1', 're 2']);
    assert.deepEqual(attempts(next, 'inbox'), [2, 1]);
  });

  it('reads anew what it runs again, even when the row came to hand only after the first run had begun', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    await host.platform.says('hi');
    await host.quiet();
    await host.write("UPDATE inbox SET state = 'received', attempts = 0, done_at = NULL");
    const [stale] = host.rows<InboxRow>('SELECT * FROM inbox');
    assert.ok(stale);
    const recent = new JustCommitted<InboxRow>();
    const seen: number[] = [];
    const dispatcher = createDispatcher({
      core: host.core,
      inbox: { recent },
      limits: () => ({ concurrency: 1, endpointConcurrency: 1 }),
      quarantineMs: () => 0,
      held: () => false,
      left: () => {},
      async handle({ row }) {
        seen.push(row.attempts);
        if (seen.length > 1) return 'done';
        recent.keep(stale);
        await host.write("UPDATE inbox SET state = 'waiting', attempts = 1");
        return 'waiting';
      },
    });
    dispatcher.start();
    await dispatcher.settled();

    dispatcher.release(stale.lane);
    await dispatcher.settled();

    assert.deepEqual(seen, [0, 1]);
    await dispatcher.stop(0);
  });

  it('never counts an attempt at a send ahead where the platform cannot tell a repeat', async (t) => {
    const platform = new MemoryPlatform({ idempotent: false });
    const seen: unknown[] = [];
    const host = await engineHost(t, { platform, modules: { echo } });
    platform.answer = () => {
      seen.push(host.rows('SELECT state, attempts FROM outbox ORDER BY seq'));
      return { kind: 'sent', message: 'm' };
    };
    const before = host.commits;

    await host.platform.says('hi');
    await host.quiet();

    assert.deepEqual(seen, [[{ state: 'sending', attempts: 1 }]]);
    assert.equal(host.commits - before, 4);
  });

  it('sends again under its key what was stored as under way and never sent', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    const keys: string[] = [];
    host.platform.answer = ({ key }) => {
      keys.push(key);
      return new Promise(() => {}); // the process dies first
    };
    await host.platform.says('hi');
    await host.quiet();
    host.kill();
    host.platform.answer = undefined;

    const next = await host.restart(t);
    await next.advance(10_000);

    assert.deepEqual(next.states('outbox'), ['sent']);
    assert.deepEqual(
      next.platform.calls.map(({ call }) => call.key),
      keys,
    );
    assert.deepEqual(attempts(next, 'outbox'), [2]);
  });

  it('makes at most sixteen calls of an account at once', async (t) => {
    const ends: (() => void)[] = [];
    const host = await engineHost(t, { modules: { echo } });
    host.platform.answer = () => new Promise((resolve) => ends.push(() => resolve({ kind: 'sent', message: 'm' })));
    for (let n = 0; n < 40; n += 1) await host.platform.says('hi', { room: `r${n}` });
    await host.quiet();
    const atOnce = ends.length;

    for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
      end();
      await host.quiet();
    }

    assert.equal(atOnce, 16);
    assert.deepEqual(new Set(host.states('outbox')), new Set(['sent']));
    assert.equal(host.platform.calls.length, 40);
  });

  it('makes one call of an account at once where the platform cannot tell a repeat, and is not held up by one that hangs', async (t) => {
    const ends: (() => void)[] = [];
    const platform = new MemoryPlatform({ idempotent: false });
    const host = await engineHost(t, { platform, modules: { echo } });
    platform.answer = () => new Promise((resolve) => ends.push(() => resolve({ kind: 'sent', message: 'm' })));
    for (let n = 0; n < 4; n += 1) await platform.says('hi', { room: `r${n}` });
    await host.quiet();
    const atOnce = ends.length;
    const claimed = host.states('outbox').filter((state) => state === 'sending').length;

    ends[0]?.();
    await host.quiet();
    const next = ends.length;
    await host.advance(9_900);
    const patient = ends.length;
    await host.advance(200);
    const overtaken = ends.length;
    for (let end = 1; end < ends.length; end += 1) {
      ends[end]?.();
      await host.quiet();
    }

    assert.deepEqual([atOnce, claimed, next, patient, overtaken], [1, 1, 2, 2, 3]);
    assert.deepEqual(new Set(host.states('outbox')), new Set(['sent']));
    assert.equal(platform.calls.length, 4);
  });
});
