// Sending: order, repeats, accounts that are down, refused or slow; nothing ends silently.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SvcError } from '../../../../shared/svc-error.ts';
import { createOutboxAdmin } from '../../../../worker/outbox/outbox-admin.ts';
import { accountFailed, definePlugin, type Outgoing } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost, type HostOptions } from '../../../support/hosts/engine-host.ts';

const A = 'root/memory:memory~a';
const B = 'root/memory:memory~b';
const echo = definePlugin({
  name: 'echo',
  setup(p) {
    p.on('message', {}, (_ctx, event) => `re ${event.text}`);
  },
});
const TWO: HostOptions = {
  modules: { echo },
  config: { plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } } },
};
const caller = { actor: 'test', scope: 'full' } as never;
const adminOf = ({ core, engine }: EngineHost) => createOutboxAdmin({ core, sender: engine.sender });
const firstId = (host: EngineHost): string =>
  host.rows<{ id: string }>('SELECT id FROM outbox ORDER BY seq')[0]?.id ?? '';

describe('sending', () => {
  it('comes again with the same key after what the platform says or backoff says, and ends as a dead letter', async (t) => {
    const keys: string[] = [];
    const host = await engineHost(t, { modules: { echo } });
    host.platform.answer = (call) => {
      keys.push(call.key);
      if (keys.length === 1) return { kind: 'later', afterMs: 7_000 };
      throw new Error('down');
    };
    await host.platform.says('x');
    await host.advance(6_900);
    const before = keys.length;
    await host.advance(24 * 3_600_000);

    assert.equal(before, 1);
    assert.equal(keys.length, 8);
    assert.equal(new Set(keys).size, 1);
    assert.deepEqual(host.states('outbox'), ['dead']);
    assert.deepEqual(
      host.events('outbox.dead').map(({ data }) => data['reason']),
      ['down (after 8 attempts)'],
    );
  });

  it('takes what is no result for an attempt that failed, and a number for the id that it is', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    const given: Readonly<Record<string, unknown>> = {
      're number': { kind: 'sent', message: 5 },
      're empty': { kind: 'sent', message: '' },
      're bare': { kind: 'refused' },
      're other': { kind: 'Sent' },
      're text': 'sent',
      're nothing': null,
    };
    let sends = 0;
    host.platform.answer = (call) => {
      sends += 1;
      return ('text' in call ? given[call.text] : undefined) as never;
    };
    for (const text of Object.keys(given)) await host.platform.says(text.slice(3), { room: text });
    await host.advance(24 * 3_600_000);

    const rows = host.rows<{ state: string; message: string | null; attempts: number; error: string | null }>(
      'SELECT state, platform_message AS message, attempts, last_error AS error FROM outbox ORDER BY seq',
    );
    assert.deepEqual(
      rows.map(({ state, message, attempts }) => [state, message, attempts]),
      [
        ['sent', '5', 1],
        ['sent', null, 1],
        ['dead', null, 1],
        ['dead', null, 8],
        ['dead', null, 8],
        ['dead', null, 8],
      ],
    );
    assert.match(rows[3]?.error ?? '', /its kind has to be 'sent', 'later' or 'refused'/);
    assert.equal(sends, 27);
  });

  it('ends at once what the platform refuses, and goes on with the conversation', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    host.platform.answer = (call) =>
      'text' in call && call.text === 're bad' ? { kind: 'refused', reason: 'no' } : { kind: 'sent' };

    await host.platform.says('bad');
    await host.platform.says('good');
    await host.quiet();

    assert.deepEqual(host.states('outbox'), ['dead', 'sent']);
    assert.deepEqual(host.platform.said('dm-ann'), ['re good']);
  });

  it('keeps the order of a conversation over retries', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    let failures = 1;
    host.platform.answer = () => {
      failures -= 1;
      if (failures >= 0) throw new Error('once');
      return { kind: 'sent' };
    };
    await host.platform.says('1');
    await host.platform.says('2');
    await host.advance(2_000);

    assert.deepEqual(host.platform.said('dm-ann'), ['re 1', 're 2']);
  });

  it('waits for an account that is down without using up attempts, and does not hold another with 5,000 sends', async (t) => {
    const host = await engineHost(t, TWO);
    host.platform.down.set(A, new Error('server gone'));
    host.platform.breaks.get(A)?.(new Error('server gone'));
    await host.quiet();
    const now = host.clock.now();
    const insert = `INSERT INTO outbox (id, key, endpoint, conversation, kind, payload_version, body, sha256, bytes, unsure, state, attempts, created_at)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      SELECT 'x' || i, 'k' || i, '${A}', 'c' || (i % 2500), 'post', 1, '{"kind":"post","text":"late","buttons":[],"files":[]}', '', 1, 'again', 'pending', 0, ${now} FROM n`;
    await host.write(insert);
    host.engine.sender.wake();
    await host.quiet();

    await host.platform.says('hello', { endpoint: B });
    await host.quiet();
    const other = host.platform.said('dm-ann', B);
    const attempts = host.rows<{ n: number }>(
      `SELECT count(*) AS n FROM outbox WHERE endpoint = '${A}' AND attempts > 0`,
    )[0]?.n;
    host.platform.down.delete(A);
    await host.advance(120_000);

    assert.deepEqual(other, ['re hello']);
    assert.equal(attempts, 0);
    assert.equal(host.rows<{ n: number }>("SELECT count(*) AS n FROM outbox WHERE state = 'sent'")[0]?.n, 5_001);
  });

  it('does not use up an attempt when the account goes while a send waits for its turn', async (t) => {
    const platform = new MemoryPlatform();
    const host = await engineHost(t, { ...TWO, platform, modules: { echo, memory: definition(platform, 1) } });
    t.after(() => host.stop());
    for (const room of ['1', '2', '3']) await platform.says('x', { room });
    await host.quiet();

    platform.down.set(A, new Error('gone'));
    platform.breaks.get(A)?.(new Error('gone'));
    await host.advance(10_000);

    assert.deepEqual(
      host
        .rows<{ attempts: number; state: string }>('SELECT attempts, state FROM outbox ORDER BY seq')
        .map(({ attempts }) => attempts),
      [1, 0, 0],
    );
  });

  it('lets many slow accounts wait for their turns without holding a quick one', async (t) => {
    const ids = Array.from({ length: 6 }, (_, n) => `s${n}`);
    const slow = new MemoryPlatform();
    const quick = new MemoryPlatform();
    const host = await engineHost(t, {
      platform: slow,
      modules: { echo, memory: definition(slow, 0.01), quick: quick.make() },
      config: { plugins: { memory: { endpoints: ids.map((id) => ({ id })) }, quick: { endpoints: [{ id: 'q' }] } } },
    });
    for (const id of ids)
      for (let n = 0; n < 30; n += 1) await slow.says('x', { endpoint: `root/memory:memory~${id}`, room: `r${n}` });
    await host.quiet();

    await quick.says('hello', { endpoint: 'root/quick:quick~q' });
    await host.quiet();

    assert.deepEqual(quick.said('dm-ann'), ['re hello']);
  });

  it('keeps the sends of an account that the platform refuses until it is mended', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    host.platform.answer = () => {
      throw accountFailed('token revoked', 'make a new one');
    };
    await host.platform.says('x');
    await host.quiet();
    const failed = host.engine.endpoints.get(A)?.state;
    host.platform.answer = undefined;

    host.engine.endpoints.get(A)?.reconnect();
    await host.quiet();

    assert.equal(failed?.state, 'failed');
    assert.equal(failed?.lastError?.remedy, 'make a new one');
    assert.deepEqual(host.platform.said('dm-ann'), ['re x']);
    assert.equal(host.rows<{ attempts: number }>('SELECT attempts FROM outbox')[0]?.attempts, 2, 'the refused one too');
  });

  it('waits for an account whose slot is disabled, and is a dead letter where there is none any more', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    host.platform.answer = () => ({ kind: 'later', afterMs: 60_000 });
    await host.platform.says('x');
    await host.quiet();
    host.configure({ plugins: { memory: { enabled: false, endpoints: [{ id: 'a' }] } } });
    await host.engine.runtime.reload('test');
    await host.advance(600_000);
    const meanwhile = host.states('outbox');
    host.platform.answer = undefined;

    const next = await host.restart(t);
    await next.quiet();
    next.platform.answer = () => ({ kind: 'later', afterMs: 60_000 });
    await next.platform.says('y');
    await next.quiet();
    next.configure({ plugins: { memory: { enabled: false, endpoints: [{ id: 'b' }] } } });
    await next.engine.runtime.reload('test');
    await next.advance(600_000);

    assert.deepEqual(meanwhile, ['waiting']);
    assert.equal(next.platform.said('dm-ann')[0], 're x');
    assert.deepEqual(next.states('outbox'), ['sent', 'dead']);
  });

  it('does not repeat a send whose result could not be stored at once', async (t) => {
    const host = await engineHost(t, { modules: { echo }, platform: new MemoryPlatform({ idempotent: false }) });
    const { writer } = host.core;
    const commit = writer.commit.bind(writer);
    let refusals = 2;
    writer.commit = (unit) => {
      if (unit.name === 'outbox.sent' && refusals-- > 0)
        return Promise.reject(new SvcError('storage_unavailable', 'disk full'));
      return commit(unit);
    };

    await host.platform.says('x');
    await host.advance(10_000);

    assert.deepEqual(host.platform.said('dm-ann'), ['re x']);
    assert.deepEqual(host.states('outbox'), ['sent']);
  });

  it('sends again after a death in the call, with the same key; holds where it is told to', async (t) => {
    for (const [onUnknown, expected] of [
      ['resend', 'sent'],
      ['hold', 'unknown'],
    ] as const) {
      const platform = new MemoryPlatform({ idempotent: false });
      const keys: string[] = [];
      platform.answer = (call) => {
        keys.push(call.key);
        return keys.length === 1 ? new Promise(() => {}) : { kind: 'sent' };
      };
      const host = await engineHost(t, { modules: { echo }, platform, config: { outbox: { onUnknown } } });
      await platform.says('x');
      await host.quiet();
      host.kill();

      const next = await host.restart(t);
      await next.quiet();

      assert.deepEqual(next.states('outbox'), [expected]);
      assert.equal(new Set(keys).size, 1);
      assert.equal(keys.length, onUnknown === 'resend' ? 2 : 1);
    }
  });

  it('tells an adapter of a repeat and since when it may be there, where the platform does not drop it', async (t) => {
    const repeats: Record<string, unknown[]> = {};
    const storedAt: unknown[] = [];
    for (const idempotent of [true, false]) {
      const seen: unknown[] = [];
      const host = await engineHost(t, { modules: { echo }, platform: new MemoryPlatform({ idempotent }) });
      host.platform.answer = (call) => {
        seen.push(call.repeat);
        if (call.search !== undefined) storedAt.push(call.search.from);
        if (seen.length === 1) throw new Error('once');
        return { kind: 'sent' };
      };
      await host.platform.says('x');
      await host.advance(2_000);
      repeats[String(idempotent)] = seen;
      if (!idempotent)
        assert.deepEqual(
          storedAt,
          host.rows<{ created_at: number }>('SELECT created_at FROM outbox').map((row) => row.created_at),
        );
    }

    assert.deepEqual(repeats, { true: [undefined, undefined], false: [undefined, true] });
  });

  it('tells an adapter of a repeat that its platform drops no more, and where to look for the first one', async (t) => {
    const platform = new MemoryPlatform({ idempotent: { forMs: 60_000 } });
    const host = await engineHost(t, { modules: { echo }, platform });
    const began = host.core.clock.now();
    const seen: Outgoing[] = [];
    await platform.says('before');
    await platform.says('elsewhere', { room: 'b' });
    await host.quiet();
    platform.answer = (call) => {
      seen.push(call);
      throw new Error('lost');
    };

    await platform.says('x');
    await host.advance(160_000);

    assert.deepEqual(
      seen.map(({ repeat }) => repeat),
      [undefined, undefined, undefined, undefined, true],
      'at 0, 1, 6, 36 and 156 s',
    );
    const others = host.rows<{ id: string }>(`SELECT platform_message AS id FROM outbox WHERE conversation = 'dm-ann'`);
    assert.deepEqual(seen.at(-1)?.search, { from: began, others: [others[0]?.id] });
  });

  it('holds a send that a death has cut once its platform drops no repeat of it, where it is told to', async (t) => {
    for (const [awayMs, expected] of [
      [10_000, 'sent'],
      [61_000, 'unknown'],
    ] as const) {
      const platform = new MemoryPlatform({ idempotent: { forMs: 60_000 } });
      let calls = 0;
      platform.answer = () => {
        calls += 1;
        return calls === 1 ? new Promise(() => {}) : { kind: 'sent' };
      };
      const host = await engineHost(t, { modules: { echo }, platform, config: { outbox: { onUnknown: 'hold' } } });
      await platform.says('x');
      await host.quiet();
      host.kill();
      host.clock.step(awayMs);

      const next = await host.restart(t);
      await next.quiet();

      assert.deepEqual(next.states('outbox'), [expected]);
    }
  });

  it('goes out again, or is taken as sent, or is dropped by the word of an operator', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    host.platform.answer = () => ({ kind: 'refused', reason: 'no' });
    for (const room of ['a', 'b', 'c']) await host.platform.says('x', { room });
    await host.quiet();
    const ids = host.rows<{ id: string }>('SELECT id FROM outbox ORDER BY seq').map(({ id }) => id);
    host.platform.answer = undefined;
    const admin = adminOf(host);

    await admin.replay(ids[0] ?? '', { caller, revision: undefined, answer: 'again' });
    await admin.replay(ids[1] ?? '', { caller, revision: undefined, answer: 'done' });
    await admin.drop(ids[2] ?? '', { caller, revision: undefined, reason: 'old' });
    await host.quiet();

    assert.deepEqual(host.states('outbox'), ['sent', 'sent', 'dead']);
    assert.deepEqual(host.platform.calls.length, 1);
    await assert.rejects(admin.replay(firstId(host), { caller, revision: 'dead-1', answer: 'again' }), {
      code: 'precondition_failed',
    });
  });

  it('lets what was decided last go out before the end', async (t) => {
    let open = (): void => {};
    const plugin = definePlugin({
      name: 'slow',
      setup(p) {
        p.on('message', {}, async () => {
          await new Promise<void>((resolve) => {
            open = resolve;
          });
          return 're x';
        });
      },
    });
    const host = await engineHost(t, { modules: { slow: plugin } });
    await host.platform.says('x');
    await host.quiet();

    const stopped = host.stop();
    open();
    await stopped;

    assert.deepEqual(host.platform.said('dm-ann'), ['re x']);
  });
});

/** The adapter of the platform with a rate. */
function definition(platform: MemoryPlatform, perSecond: number) {
  const adapter = platform.make();
  const slow = { ...adapter, rate: { perSecond } };
  for (const symbol of Object.getOwnPropertySymbols(adapter))
    Object.defineProperty(slow, symbol, { value: (adapter as unknown as Record<symbol, unknown>)[symbol] });
  return slow;
}
