// The history of the chat page is as long as texts are kept, whatever the event history forgets.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { conversationId, sandboxArrival, sandboxPress } from '../../../../worker/adapters/sandbox/arrival.ts';
import { chatView } from '../../../../worker/adapters/sandbox/chat-view.ts';
import { sandbox } from '../../../../worker/adapters/sandbox/index.ts';
import type { Reader } from '../../../../worker/database/unit.ts';
import { trimEvents } from '../../../../worker/events/retention.ts';
import type { ChatApi } from '../../../../worker/http/api/chat-api.ts';
import { createSandboxChat } from '../../../../worker/sandbox/sandbox-chat.ts';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const bot = definePlugin({
  name: 'bot',
  setup(p) {
    const first = p.state('first', { scope: 'conversation', value: t.message() });
    p.on('message', {}, async (ctx, { text }) => {
      const known = await ctx.get(first);
      if (text === 'edit' && known !== undefined) return ctx.edit(known, 'edited');
      const said = ctx.reply(`re ${text}`);
      if (known === undefined) ctx.set(first, said);
      return undefined;
    });
  },
});

interface Chat {
  readonly host: EngineHost;
  readonly chat: ChatApi;
  says(text: string): Promise<void>;
  /** Forgets all events up to now. */
  forget(): Promise<void>;
  seen(after?: number): Promise<string[]>;
  /** Of items and sends. */
  rowsRead(): number;
}

async function start(context: TestContext): Promise<Chat> {
  const host = await engineHost(context, { modules: { sandbox, bot } });
  const { engine } = host;
  let rowsRead = 0;
  const reader: Reader = {
    async all(query) {
      const rows = await host.core.reader.all(query);
      rowsRead += rows.length;
      return rows;
    },
    first: (query) => host.core.reader.first(query),
  };
  const core = { ...host.core, reader };
  const chat = createSandboxChat({
    core,
    inbox: engine.inbox,
    gate: engine.gate,
    admit: () => {},
    endpoint: () => engine.endpoints.all().find(({ spec }) => spec.adapter.name === 'sandbox'),
    sandbox: { arrival: sandboxArrival, press: sandboxPress, conversation: conversationId, view: chatView },
  });
  const place = { person: 'ann', room: undefined };
  let deliveries = 0;
  return {
    host,
    chat,
    async says(text) {
      await chat.say({ ...place, text, delivery: `d${(deliveries += 1)}` });
      await host.quiet();
      await host.advance(10_000);
    },
    async forget() {
      const head = host.events().at(-1)?.seq ?? 0;
      for (const { sql, parameters } of trimEvents(head)) await host.write(sql, ...parameters);
    },
    async seen(after = 0) {
      const { messages } = await chat.messages({ ...place, after, limit: 500 });
      return messages.map(({ from, text }) => `${from}: ${text}`);
    },
    rowsRead: () => rowsRead,
  };
}

describe('a line that is said again under its delivery id', () => {
  it('is the item that was stored first', async (context) => {
    const { chat } = await start(context);
    const say = () => chat.say({ person: 'ann', room: undefined, text: 'a', delivery: 'd' });

    const [first, second] = [await say(), await say()];

    assert.deepEqual(second, { id: first.id, duplicate: true });
  });
});

describe('the history of the chat page', () => {
  it('is read in stretches of the event history: others come to their turn between them', async (context) => {
    const { host, chat, says, seen } = await start(context);
    await says('first');
    const fill = `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
      INSERT INTO event_log (seq, at, type, version, runtime_id, data, bytes)
      SELECT (SELECT max(seq) FROM event_log) + i, 0, 'filler', 1, 'r', '{}', 2 FROM n`;
    await host.write(fill);
    await host.write(`UPDATE counters SET value = (SELECT max(seq) FROM event_log) WHERE name = 'event'`);
    let turns = 0;
    let isRead = false;
    const turn = (): void => {
      turns += 1;
      if (!isRead) setImmediate(turn);
    };
    setImmediate(turn);

    await chat.messages({ person: 'ann', room: undefined, after: undefined, limit: 500 });
    isRead = true;

    assert.ok(turns >= 8, `${turns} turns`);
    assert.deepEqual(await seen(), ['ann: first', 'svc: re first']);
  });

  it('is the same, in order and numbered, when the events of a part or of all of it are gone', async (context) => {
    const { chat, says, forget, seen } = await start(context);
    for (const text of ['a', 'b', 'c']) await says(text);
    const before = await seen();
    await forget();
    const withoutEvents = await seen();
    await says('d');
    const later = await seen();
    const { messages } = await chat.messages({ person: 'ann', room: undefined, after: 0, limit: 500 });
    const numbers = messages.map(({ n }) => n);

    assert.deepEqual(before, ['ann: a', 'svc: re a', 'ann: b', 'svc: re b', 'ann: c', 'svc: re c']);
    assert.deepEqual(withoutEvents, before);
    assert.deepEqual(later, [...before, 'ann: d', 'svc: re d']);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((a, b) => a - b),
    );
    assert.ok((numbers[0] ?? 0) >= 1);
  });

  it('gives a client that was there before all that it has not seen, and edits of what it has', async (context) => {
    const { chat, says, forget, seen } = await start(context);
    await says('a');
    const { cursor } = await chat.messages({ person: 'ann', room: undefined, after: 0, limit: 500 });
    await says('b');
    await forget();
    await says('edit');

    const missed = await seen(cursor);
    const now = (await chat.messages({ person: 'ann', room: undefined, after: 0, limit: 500 })).cursor;
    await forget();
    await says('edit');

    for (const text of ['ann: b', 'svc: re b', 'ann: edit', 'svc: edited']) assert.ok(missed.includes(text), text);
    assert.deepEqual(await seen(now), ['svc: edited', 'ann: edit']);
    assert.deepEqual(await seen(), ['ann: a', 'svc: edited', 'ann: b', 'svc: re b', 'ann: edit', 'ann: edit']);
  });

  it('is not read again for a page that follows, unless something in it changes', async (context) => {
    const { chat, says, seen, rowsRead } = await start(context);
    for (const text of ['a', 'b', 'c']) await says(text);
    const { cursor } = await chat.messages({ person: 'ann', room: undefined, after: 0, limit: 500 });
    await says('d');
    const before = rowsRead();

    const news = await seen(cursor);
    const rows = rowsRead() - before;
    await says('edit');
    const changes = await seen(cursor);

    assert.deepEqual([news, rows], [['ann: d', 'svc: re d'], 2]);
    assert.deepEqual(changes, ['svc: edited', 'ann: d', 'svc: re d', 'ann: edit']);
  });

  it('is given in pages: the newest first of all, or forward from a cursor without a hole', async (context) => {
    const { chat, says, forget } = await start(context);
    for (const text of ['a', 'b']) await says(text);
    await forget();
    for (const text of ['c', 'd']) await says(text);
    const page = (after: number | undefined): ReturnType<ChatApi['messages']> =>
      chat.messages({ person: 'ann', room: undefined, after, limit: 3 });
    const texts: string[] = [];
    let turns = 0;
    for (let after = 0, more = true; more; turns += 1) {
      const { messages, ...next } = await page(after);
      texts.push(...messages.map(({ text }) => text));
      ({ cursor: after, more } = next);
    }
    const newest = await page(undefined);

    assert.deepEqual(texts, ['a', 're a', 'b', 're b', 'c', 're c', 'd', 're d']);
    assert.equal(turns, 3);
    assert.deepEqual(
      [newest.messages.map(({ text }) => text), newest.older, newest.more],
      [['re c', 'd', 're d'], true, false],
    );
    assert.deepEqual((await page(newest.cursor)).messages, []);
  });
});
