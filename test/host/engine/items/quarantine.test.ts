// What was in hand when the process died: started one at a time after the first death, set aside after the second, handled all the same. Deaths are
// counted for what was in hand alone.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { recordStart } from '../../../../worker/database/starts-ledger.ts';
import { replayItem } from '../../../../worker/inbox/operator-store.ts';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const NEVER = new Promise<never>(() => {});
const REASON = 'in hand at 2 deaths of the process';

/** Never comes back while it `hangs`; remembers what it was given. */
function hanging() {
  const state = { hangs: true, heard: [] as string[] };
  const plugin = definePlugin({
    name: 'hanging',
    setup(p) {
      p.on('message', {}, (_ctx, { text }) => {
        state.heard.push(text);
        return state.hangs ? NEVER : `re ${text}`;
      });
    },
  });
  return { state, modules: { hanging: plugin } };
}

const echo = definePlugin({
  name: 'echo',
  setup(p) {
    p.on('message', {}, (_ctx, event) => `re ${event.text}`);
  },
});

const rows = (host: EngineHost) =>
  host.rows<{ state: string; attempts: number; deaths: number }>(
    'SELECT state, attempts, deaths FROM inbox ORDER BY seq',
  );

const waitMs = (host: EngineHost, table: 'inbox' | 'outbox' = 'inbox'): number =>
  (host.rows<{ next_at: number | null }>(`SELECT next_at FROM ${table} ORDER BY seq`)[0]?.next_at ?? 0) -
  host.clock.now();

describe('an item that was in hand when the process died', () => {
  it('runs again after the first death, is set aside after the second, and handled when its time comes', async (t) => {
    const { state, modules } = hanging();
    let host = await engineHost(t, { modules });
    await host.platform.says('x');
    await host.platform.says('behind');
    await host.quiet();
    assert.deepEqual(rows(host)[0], { state: 'handling', attempts: 1, deaths: 0 });

    host.kill();
    host = await host.restart(t);
    await host.quiet();
    assert.deepEqual(rows(host)[0], { state: 'handling', attempts: 2, deaths: 1 });

    host.kill();
    host = await host.restart(t);
    await host.quiet();
    assert.deepEqual(rows(host), [
      { state: 'waiting', attempts: 2, deaths: 2 },
      { state: 'received', attempts: 0, deaths: 0 },
    ]);
    assert.equal(waitMs(host), 120_000);
    const [item] = host.rows<{ id: string; last_error: string }>('SELECT id, last_error FROM inbox ORDER BY seq');
    assert.equal(item?.last_error, REASON);
    assert.deepEqual(
      host.logs.filter(({ message }) => message.includes('set aside')).map(({ level, message }) => [level, message]),
      [['warn', `an item is set aside, ${REASON}: svc inbox show ${item?.id}`]],
    );

    state.hangs = false;
    await host.advance(120_000);
    await host.quiet();
    assert.deepEqual(host.platform.said('dm-ann'), ['re x', 're behind']);
    assert.deepEqual(host.states('inbox'), ['done', 'done']);
  });

  it('is set aside for inbox.quarantineSeconds, for longer after further deaths, and a dead letter at the bound', async (t) => {
    const { state, modules } = hanging();
    let host = await engineHost(t, { modules, config: { inbox: { maxAttempts: 4, quarantineSeconds: 10 } } });
    await host.platform.says('x');
    const waits: number[] = [];
    for (let deaths = 1; deaths <= 4; deaths += 1) {
      await host.quiet();
      host.kill();
      host = await host.restart(t);
      await host.quiet();
      if (host.states('inbox')[0] !== 'waiting') continue;
      waits.push(waitMs(host));
      await host.advance(waitMs(host));
    }
    await host.quiet();

    assert.deepEqual(waits, [10_000, 25_000, 25_000]);
    assert.equal(state.heard.length, 4);
    assert.deepEqual(host.states('inbox'), ['dead']);
  });

  it('waits on over restarts, and runs alone then', async (t) => {
    const { state, modules } = hanging();
    let host = await engineHost(t, { modules });
    await host.platform.says('x');
    for (let deaths = 1; deaths <= 2; deaths += 1) {
      await host.quiet();
      host.kill();
      host = await host.restart(t);
    }
    await host.quiet();
    host.kill();
    host = await host.restart(t);
    await host.quiet();
    assert.deepEqual(rows(host), [{ state: 'waiting', attempts: 2, deaths: 2 }], 'it was not in hand');

    await host.advance(120_000);
    await host.platform.says('beside', { room: 'other' });
    await host.quiet();
    assert.deepEqual(state.heard.slice(2), ['x']);
    state.hangs = false;
    await host.advance(500);
    await host.quiet();

    assert.deepEqual(state.heard.slice(3), ['beside'], 'it has lived through its grace');
  });

  it('is counted no death of while it had not begun: it was held back', async (t) => {
    const { modules } = hanging();
    let host = await engineHost(t, { modules });
    await host.platform.says('x');
    await host.quiet();
    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');
    for (let deaths = 1; deaths <= 3; deaths += 1) {
      host.kill();
      host = await host.restart(t);
      await host.quiet();
    }
    assert.deepEqual(rows(host), [{ state: 'handling', attempts: 1, deaths: 0 }]);

    await host.engine.gate.set({ state: 'open' } as never, 'op');
    await host.quiet();

    assert.deepEqual(rows(host), [{ state: 'handling', attempts: 2, deaths: 1 }]);
  });

  it('is counted no death of where a stop has cut it', async (t) => {
    const { state, modules } = hanging();
    let host = await engineHost(t, { modules });
    await host.platform.says('x');
    for (let stops = 1; stops <= 3; stops += 1) {
      await host.quiet();
      host = await host.restart(t);
    }
    await host.quiet();

    assert.deepEqual(rows(host), [{ state: 'handling', attempts: 4, deaths: 0 }]);
    state.hangs = false;
  });

  it('begins anew with no deaths where an operator replays it', async (t) => {
    const { state, modules } = hanging();
    let host = await engineHost(t, { modules, config: { inbox: { maxAttempts: 1 } } });
    await host.platform.says('x');
    await host.quiet();
    host.kill();
    host = await host.restart(t);
    await host.quiet();
    assert.deepEqual(rows(host), [{ state: 'dead', attempts: 2, deaths: 1 }]);

    state.hangs = false;
    const [row] = host.rows<{ id: string; operator_changes: number }>('SELECT id, operator_changes FROM inbox');
    assert.ok(row);
    await host.core.writer.commit({ name: 'replay', statements: replayItem(row) });

    assert.deepEqual(rows(host), [{ state: 'received', attempts: 0, deaths: 0 }]);
  });
});

describe('items that were in hand at two deaths beside one that is guilty', () => {
  it('are all handled in the end, each a few times at most', async (t) => {
    const heard = new Map<string, number>();
    let isDying = false;
    const plugin = definePlugin({
      name: 'guilty',
      setup(p) {
        p.on('message', {}, async (_ctx, { text }) => {
          heard.set(text, (heard.get(text) ?? 0) + 1);
          if (text === 'bad') isDying = true;
          await new Promise((resolve) => setImmediate(resolve));
          return isDying ? NEVER : undefined;
        });
      },
    });
    let host = await engineHost(t, { modules: { guilty: plugin } });
    for (const room of ['1', '2', 'bad', '3', '4']) await host.platform.says(room, { room });
    let deaths = 0;
    for (; deaths < 20; deaths += 1) {
      await host.until(
        'a death, or the end',
        () => isDying || host.states('inbox').every((state) => state === 'done' || state === 'waiting'),
      );
      if (!isDying) break;
      await host.quiet();
      host.kill();
      isDying = false;
      host = await host.restart(t);
    }

    assert.equal(deaths, 2);
    assert.equal(heard.get('bad'), 2);
    assert.deepEqual(host.states('inbox').toSorted(), ['done', 'done', 'done', 'done', 'waiting']);
    for (const [text, times] of heard) if (text !== 'bad') assert.ok(times <= 3, `${text} was heard ${times} times`);
  });
});

describe('deaths that come one after the other', () => {
  const afterCrashes = async (t: TestContext, ...agoMs: readonly number[]) => {
    const { state, modules } = hanging();
    let host = await engineHost(t, { modules });
    await host.platform.says('x');
    await host.quiet();
    host.kill();
    const crashes = agoMs.map((ago, n) =>
      recordStart({
        runtime_id: `r${n}`,
        at: host.clock.now() - ago,
        pid: 1,
        owner: 'daemon',
        version: '1',
        node: 'v20',
        previous_end: 'crashed',
        previous_code: null,
        previous_signal: null,
        previous_detail: null,
      }),
    );
    state.hangs = false;
    state.heard.length = 0;
    host = new EngineHost(host.project, { modules, platform: host.platform, clock: host.clock });
    t.after(() => host.stop());
    await host.start(crashes);
    await host.platform.says('new', { room: 'other' });
    await host.quiet();
    return { host, state };
  };

  it('set what was in hand aside at its first death, and let others start', async (t) => {
    const { host, state } = await afterCrashes(t, 30_000, 20_000, 10_000);

    assert.deepEqual([state.heard, host.states('inbox')], [['new'], ['waiting', 'done']]);
    assert.deepEqual(host.rows('SELECT attempts, deaths, last_error FROM inbox WHERE seq = 1'), [
      { attempts: 1, deaths: 1, last_error: 'in hand at 1 death of the process' },
    ]);
    await host.advance(120_000);
    await host.quiet();
    assert.deepEqual(host.states('inbox'), ['done', 'done']);
  });

  it('are followed by a rest: what comes in is stored, nothing starts, and then all goes on', async (t) => {
    const { host, state } = await afterCrashes(t, 30_000, 20_000, 10_000, 5_000);

    await host.advance(89_999);
    await host.quiet();
    assert.deepEqual([state.heard, host.states('inbox')], [[], ['handling', 'received']]);
    await host.advance(1);
    await host.quiet();
    assert.deepEqual([state.heard, host.states('inbox')], [['new'], ['waiting', 'done']]);
    await host.advance(120_000);
    await host.quiet();

    assert.deepEqual(host.states('inbox'), ['done', 'done']);
  });

  it('change nothing where they are longer ago than a quarantine', async (t) => {
    const { host, state } = await afterCrashes(t, 150_000, 140_000, 130_000, 5_000);

    assert.deepEqual(
      [state.heard, host.states('inbox')],
      [
        ['x', 'new'],
        ['done', 'done'],
      ],
    );
  });
});

describe('a send that was under way when the process died', () => {
  it('is set aside after the second death, and goes out when its time comes', async (t) => {
    const platform = new MemoryPlatform();
    let isDying = true;
    platform.answer = () => (isDying ? NEVER : { kind: 'sent' });
    let host = await engineHost(t, { modules: { echo }, platform });
    await platform.says('x');
    for (let deaths = 1; deaths <= 2; deaths += 1) {
      await host.quiet();
      host.kill();
      host = await host.restart(t);
    }
    await host.quiet();
    assert.deepEqual(host.rows('SELECT state, attempts, last_error FROM outbox'), [
      { state: 'waiting', attempts: 2, last_error: REASON },
    ]);
    assert.equal(waitMs(host, 'outbox'), 120_000);

    isDying = false;
    await host.advance(120_000);
    await host.quiet();

    assert.deepEqual(host.states('outbox'), ['sent']);
  });
});
