// Dead letters by cause, over HTTP on the real store: groups, replays and drops in pages, while the host serves.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createInboxAdmin } from '../../../../worker/inbox/inbox-admin.ts';
import { createIdempotency } from '../../../../worker/ingress/idempotency.ts';
import { createOutboxAdmin } from '../../../../worker/outbox/outbox-admin.ts';
import { definePlugin, giveUp } from '../../../../worker/sdk/index.ts';
import { copyDead, copyDeadSends } from '../../../support/hosts/dead-items.ts';
import { type EngineHost, engineHost, type HostOptions } from '../../../support/hosts/engine-host.ts';
import { DEMO_TOKEN } from '../../../support/hosts/fake-host-port.ts';
import { startHttp } from '../../../support/http/http-server.ts';

const HANDLER = 'root/tool#on/message';
const ENDPOINT = 'root/memory:memory~a';

interface Result {
  readonly done: number;
  readonly left: number;
  readonly skipped: number;
  readonly next?: string;
}
type Group = Readonly<Record<'endpoint' | 'handler' | 'code' | 'count' | 'item', unknown>>;

async function operated(t: TestContext, config: NonNullable<HostOptions['config']> = {}) {
  const works = { yes: false };
  const tool = definePlugin({
    name: 'tool',
    setup(p) {
      p.on('message', {}, (_ctx, { text }) => {
        if (text === 'die' && !works.yes) throw giveUp('no');
        return `did ${text}`;
      });
    },
  });
  const host = await engineHost(t, { modules: { tool }, config });
  const http = await startHttp(t);
  const { core, engine } = host;
  const { inbox, dispatcher, sender } = engine;
  Object.assign(http.host, {
    idempotency: createIdempotency(core),
    inbox: createInboxAdmin({ core, inbox, dispatcher, room: () => inbox.room }),
    outbox: createOutboxAdmin({ core, sender }),
  });
  const post = (path: string, body: object, key?: string): Promise<Response> =>
    http.fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'Idempotency-Key': key }) },
      body: JSON.stringify(body),
    });
  const groups = async (store: string, token?: string) =>
    (await (await http.fetch(`/api/${store}/groups`, token === undefined ? {} : { token })).json()) as {
      readonly groups: readonly Group[];
      readonly looked: number;
      readonly asOf: string;
    };
  return {
    host,
    http,
    works,
    post,
    groups,
    /** Pages until none is left, with `between` after each. */
    async all(path: string, body: object, between: () => Promise<void> = async () => {}): Promise<Result[]> {
      const pages: Result[] = [];
      for (let after: string | undefined; ; ) {
        const answer = await post(path, { ...body, ...(after === undefined ? {} : { after }) });
        assert.equal(answer.status, 200, await answer.clone().text());
        const page = (await answer.json()) as Result;
        pages.push(page);
        await between();
        after = page.next;
        if (after === undefined) return pages;
      }
    },
  };
}

const countOf = (host: EngineHost, store: string, where: string): number =>
  host.rows<{ n: number }>(`SELECT COUNT(*) AS n FROM ${store} WHERE ${where}`)[0]?.n ?? 0;

async function oneDead(host: EngineHost): Promise<void> {
  await host.platform.says('die');
  await host.quiet();
}

describe('10,000 dead letters of three causes', () => {
  it('are grouped, dropped and replayed by cause in pages, and who writes meanwhile is answered', async (t) => {
    const { host, works, all, groups } = await operated(t);
    await oneDead(host);
    await copyDead(host, 8_000, { code: 'unparsable' });
    await copyDead(host, 799, { code: 'handler_gone', handler: 'root/old#on/message' });
    await copyDead(host, 1_200, { code: 'handler_failed', handler: HANDLER });

    const found = await groups('inbox');
    assert.deepEqual(
      found.groups.map(({ endpoint, handler, code, count }) => [endpoint, handler, code, count]),
      [
        [ENDPOINT, null, 'unparsable', 8_000],
        [ENDPOINT, HANDLER, 'handler_failed', 1_201],
        [ENDPOINT, 'root/old#on/message', 'handler_gone', 799],
      ],
    );
    assert.equal(found.looked, 10_000);
    assert.equal(found.groups[1]?.item, 'handler_failed/1200');

    const upTo = found.asOf;
    let wrote = 0;
    const writes = async (): Promise<void> => {
      await host.platform.says(`hello ${(wrote += 1)}`, { from: 'bob' });
      await host.quiet();
      assert.equal(host.platform.said('dm-bob').length, wrote, 'answered between two pages');
    };
    const dropped = await all('/api/inbox/drop', { state: 'dead', code: 'unparsable', upTo, reason: 'old' }, writes);
    assert.deepEqual(
      [dropped.length, dropped[0], dropped.at(-1)],
      [16, { done: 500, left: 7_500, skipped: 0, next: dropped[0]?.next }, { done: 500, left: 0, skipped: 0 }],
    );

    works.yes = true;
    const replayed = await all('/api/inbox/replay', { state: 'dead', handler: 'root/tool', upTo }, writes);
    assert.deepEqual(
      replayed.map(({ done, left }) => [done, left]),
      [
        [500, 701],
        [500, 201],
        [201, 0],
      ],
    );
    await host.quiet();

    assert.equal(
      host.platform.calls.filter(({ call }) => call.kind === 'post' && call.text === 'did die').length,
      1_201,
    );
    assert.deepEqual(
      (await groups('inbox')).groups.map(({ code, count }) => [code, count]),
      [['handler_gone', 799]],
    );
    assert.equal(host.events('inbox.dropped').length, 8_000);
    assert.equal(host.events('inbox.replayed').length, 1_201);
    assert.equal(host.engine.inbox.pending.items, 0);
  });
});

describe('a replay of a whole cause', () => {
  it('ends although each item dies again', async (t) => {
    const { host, all, groups } = await operated(t);
    await oneDead(host);
    await copyDead(host, 999, { code: 'handler_failed', handler: HANDLER });
    const { asOf: upTo } = await groups('inbox');
    await host.advance(10);

    const pages = await all('/api/inbox/replay', { state: 'dead', upTo }, () => host.quiet());
    const again = await all('/api/inbox/replay', { state: 'dead', upTo });

    assert.deepEqual(
      [pages, again].map((found) => found.map(({ done, left }) => [done, left])),
      [
        [
          [500, 500],
          [500, 0],
        ],
        [[0, 0]],
      ],
      'who died again did so after that time',
    );
    assert.equal(
      countOf(host, 'inbox', `state = 'dead' AND code = 'handler_failed' AND failed_handler = '${HANDLER}'`),
      1_000,
    );
  });

  it('leaves the inbox room for messages: it goes on where those that wait are handled', async (t) => {
    const { host, works, post, groups } = await operated(t, { inbox: { maxPending: 100 } });
    await oneDead(host);
    await copyDead(host, 199, { code: 'handler_failed', handler: HANDLER });
    const { asOf: upTo } = await groups('inbox');
    works.yes = true;
    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');

    const first = (await (await post('/api/inbox/replay', { state: 'dead', upTo })).json()) as Result;
    const full = await post('/api/inbox/replay', { state: 'dead', upTo, after: first.next });
    await host.platform.says('hello', { from: 'bob' });
    await host.engine.gate.set({ state: 'open' } as never, 'op');
    await host.quiet();
    const second = (await (
      await post('/api/inbox/replay', { state: 'dead', upTo, after: first.next })
    ).json()) as Result;

    assert.deepEqual([first.done, first.left], [90, 110]);
    assert.deepEqual([full.status, full.headers.get('retry-after')], [503, '1']);
    assert.deepEqual(host.platform.said('dm-bob'), ['did hello']);
    assert.deepEqual([second.done, second.left], [90, 20]);
  });

  it('leaves items that an operator holds, unless it names them', async (t) => {
    const { host, works, post, groups } = await operated(t);
    await oneDead(host);
    await copyDead(host, 2, { code: 'held' });
    const { asOf: upTo } = await groups('inbox');
    works.yes = true;

    const all = await (await post('/api/inbox/replay', { state: 'dead', upTo })).json();
    const held = await (await post('/api/inbox/replay', { state: 'dead', upTo, code: 'held' })).json();

    assert.deepEqual(
      [all, held],
      [
        { done: 1, left: 0, skipped: 2 },
        { done: 2, left: 0, skipped: 0 },
      ],
    );
  });

  it('leaves items whose call may have been made, until it is told what became of them', async (t) => {
    const { host, works, post, groups } = await operated(t);
    await oneDead(host);
    await copyDead(host, 2, { code: 'handler_failed', handler: HANDLER });
    await host.write(
      `INSERT INTO once_results (item_id, handler, step, state, value, at) VALUES ('handler_failed/1', '${HANDLER}', 'pay', 'called', NULL, 0)`,
    );
    const { asOf: upTo } = await groups('inbox');
    works.yes = true;

    const first = await (await post('/api/inbox/replay', { state: 'dead', upTo })).json();
    const second = await (await post('/api/inbox/replay', { state: 'dead', upTo, answer: 'again' })).json();

    assert.deepEqual(
      [first, second],
      [
        { done: 2, left: 0, skipped: 1 },
        { done: 1, left: 0, skipped: 0 },
      ],
    );
  });
});

describe('a page of a bulk change', () => {
  it('is one unit: a kill leaves the whole page or nothing of it, and a repeat finds the rest', async (t) => {
    const { host, post, groups } = await operated(t);
    await oneDead(host);
    await copyDead(host, 699, { code: 'unparsable' });
    const { asOf: upTo } = await groups('inbox');
    const body = { state: 'dead', upTo, reason: 'old' };
    assert.equal((await post('/api/inbox/drop', body)).status, 200);
    host.kill();
    assert.ok((await post('/api/inbox/drop', body)).status >= 500);

    const next = await host.restart(t);

    assert.deepEqual([countOf(next, 'inbox', "state = 'dead'"), next.events('inbox.dropped').length], [200, 500]);
    const admin = createInboxAdmin({ core: next.core, inbox: next.engine.inbox, dispatcher: next.engine.dispatcher });
    const caller = { actor: 'test', scope: 'full' } as never;
    const rest = await admin.dropMany({ state: 'dead', upTo }, { caller, reason: 'old' });
    assert.deepEqual(rest, { done: 200, left: 0, skipped: 0 });
  });

  it('has the first answer under its Idempotency-Key, and changes nothing more', async (t) => {
    const { host, post, groups } = await operated(t);
    await oneDead(host);
    await copyDead(host, 899, { code: 'unparsable' });
    const { asOf: upTo } = await groups('inbox');
    const drop = () => post('/api/inbox/drop', { state: 'dead', upTo, reason: 'old' }, 'k');

    const [first, again] = [await drop(), await drop()];

    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(await again.json(), await first.json());
    assert.equal(countOf(host, 'inbox', "state = 'dead'"), 400);
  });

  it('takes items since a time, of an account by its short name; an unknown filter or time is refused', async (t) => {
    const { host, post, groups } = await operated(t);
    await oneDead(host);
    await host.advance(60_000);
    await host.platform.says('die', { from: 'bob' });
    await host.quiet();
    const { asOf: upTo } = await groups('inbox');
    const since = new Date(host.clock.now() - 30_000).toISOString();
    const drop = async (more: object) => {
      const answer = await post('/api/inbox/drop', { state: 'dead', upTo, reason: 'old', ...more });
      return answer.status === 200 ? ((await answer.json()) as Result).done : answer.status;
    };

    assert.deepEqual(
      [
        await drop({ endpoint: 'other' }),
        await drop({ since: 'yesterday' }),
        await drop({ upTo: 'now' }),
        await drop({ state: 'unknown' }),
        await drop({ codes: 'x' }),
        await drop({ since, endpoint: 'memory~a' }),
        await drop({ endpoint: ENDPOINT, code: 'handler_failed' }),
      ],
      [0, 400, 400, 400, 400, 1, 1],
    );
  });
});

describe('dead sends', () => {
  it('are grouped, sent again and dropped by code; those of unknown outcome need an answer', async (t) => {
    const { host, post, groups, all } = await operated(t);
    host.platform.answer = () => ({ kind: 'refused', reason: 'ann has left' });
    await host.platform.says('hello');
    await host.quiet();
    host.platform.answer = undefined;
    await copyDeadSends(host, 600, 'endpoint_missing');
    await copyDeadSends(host, 3, 'result_unknown', 'unknown');
    const found = await groups('outbox');
    const upTo = found.asOf;

    assert.deepEqual(
      found.groups.map(({ code, handler, count }) => [code, handler, count]),
      [
        ['endpoint_missing', null, 600],
        ['platform_refused', null, 1],
      ],
    );
    const refused = [
      await post('/api/outbox/replay', { state: 'unknown', upTo }),
      await post('/api/outbox/replay', { state: 'dead', upTo, handler: 'root/tool' }),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      [400, 400],
    );
    const before = host.platform.calls.length;
    await all('/api/outbox/replay', { state: 'dead', code: 'endpoint_missing', upTo });
    await host.quiet();
    assert.equal(host.platform.calls.length - before, 600);
    await all('/api/outbox/drop', { state: 'dead', upTo, reason: 'gone' });
    await all('/api/outbox/replay', { state: 'unknown', answer: 'done', upTo });

    assert.equal(countOf(host, 'outbox', "state = 'sent'"), 603);
    assert.deepEqual((await groups('outbox')).groups, []);
    assert.equal(countOf(host, 'outbox', "state = 'dead' AND is_dropped = 1"), 1);
  });

  it('are shown to demo scope by cause, without texts; changes need the full one', async (t) => {
    const { host, http, groups } = await operated(t);
    await oneDead(host);

    const shown = await groups('inbox', DEMO_TOKEN);
    const change = await http.fetch('/api/inbox/drop', {
      method: 'POST',
      token: DEMO_TOKEN,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ state: 'dead', upTo: shown.asOf, reason: 'x' }),
    });

    assert.deepEqual(
      shown.groups.map(({ code, count }) => [code, count]),
      [['handler_failed', 1]],
    );
    assert.equal(change.status, 403);
  });
});
