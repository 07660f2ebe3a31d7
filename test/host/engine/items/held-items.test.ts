// Items that an operator holds: over HTTP on the real store, and beside a worker that follows.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../../shared/time/clock.ts';
import { takeAuthority } from '../../../../worker/database/authority.ts';
import { outsideWriter } from '../../../../worker/database/outside-writer.ts';
import { SqliteReader } from '../../../../worker/database/reader.ts';
import { openReadOnly } from '../../../../worker/database/sqlite/connection.ts';
import { createInboxAdmin } from '../../../../worker/inbox/inbox-admin.ts';
import { createIdempotency } from '../../../../worker/ingress/idempotency.ts';
import { createOutboxAdmin } from '../../../../worker/outbox/outbox-admin.ts';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';
import { startHttp } from '../../../support/http/http-server.ts';

async function operated(t: TestContext) {
  const waits: (() => void)[] = [];
  const plugin = definePlugin({
    name: 'waits',
    setup(p) {
      p.on('message', {}, async (_ctx, { text }) => {
        if (text.startsWith('slow')) await new Promise<void>((resolve) => waits.push(resolve));
        return `did ${text}`;
      });
    },
  });
  const host = await engineHost(t, { modules: { plugin } });
  const http = await startHttp(t);
  const { core, engine } = host;
  Object.assign(http.host, {
    idempotency: createIdempotency(core),
    inbox: createInboxAdmin({ core, inbox: engine.inbox, dispatcher: engine.dispatcher }),
    outbox: createOutboxAdmin({ core, sender: engine.sender }),
  });
  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    http.fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return {
    host,
    post,
    tag: async (path: string) => (await http.fetch(path)).headers.get('etag') ?? '',
    finish: () => {
      for (const resolve of waits.splice(0)) resolve();
    },
    ids: (store: string) => host.rows<{ id: string }>(`SELECT id FROM ${store} ORDER BY seq`).map(({ id }) => id),
  };
}

describe('an item that is held', () => {
  it('ends as dead with its event, its running handler stores nothing, its lane goes on, and a replay brings it back', async (t) => {
    const { host, post, tag, finish, ids } = await operated(t);
    for (const text of ['slow one', 'next']) await host.platform.says(text);
    await host.quiet();
    const path = `/api/inbox/${ids('inbox')[0]}`;
    const match = await tag(path);

    const hold = () => post(`${path}/hold`, { reason: 'kills' }, { 'If-Match': match, 'Idempotency-Key': 'k' });
    const [first, again] = [await hold(), await hold()];
    const stale = await post(`${path}/hold`, { reason: 'kills' }, { 'If-Match': match });
    const blind = await post(`${path}/hold`, { reason: 'kills' });
    finish();
    await host.quiet();

    const { state, lastError } = (await first.json()) as Record<string, unknown>;
    assert.deepEqual([first.status, state, lastError], [200, 'dead', 'held: kills']);
    assert.deepEqual([again.status, stale.status, blind.status], [200, 412, 409]);
    assert.deepEqual(host.states('inbox'), ['dead', 'done']);
    assert.deepEqual(host.platform.said('dm-ann'), ['did next']);
    assert.deepEqual(
      host.events('inbox.held').map(({ data }) => [data['reason'], data['was']]),
      [['kills', 'handling']],
    );
    assert.equal(host.engine.inbox.pending.items, 0);

    assert.equal((await post(`${path}/replay`, {})).status, 200);
    await host.quiet();
    finish();
    await host.quiet();
    assert.deepEqual(host.states('inbox'), ['done', 'done']);
    assert.deepEqual(host.platform.said('dm-ann'), ['did next', 'did slow one']);
  });

  it('may wait behind another one, and is not run when its turn comes', async (t) => {
    const { host, post, finish, ids } = await operated(t);
    for (const text of ['slow one', 'not this', 'next']) await host.platform.says(text);
    await host.quiet();

    const held = await post(`/api/inbox/${ids('inbox')[1]}/hold`, { reason: 'later' });
    finish();
    await host.quiet();

    assert.equal(held.status, 200);
    assert.deepEqual(host.platform.said('dm-ann'), ['did slow one', 'did next']);
    assert.deepEqual(host.states('inbox'), ['done', 'dead', 'done']);
  });

  it('is a send, too: one that waits goes out no more, one whose call is under way is of an unknown end', async (t) => {
    const { host, post, ids } = await operated(t);
    let sent = (): void => {};
    host.platform.answer = () => ({ kind: 'later', afterMs: 60_000 });
    await host.platform.says('one');
    await host.quiet();
    host.platform.answer = () =>
      new Promise((resolve) => {
        sent = () => resolve({ kind: 'sent' });
      });
    await host.platform.says('two', { from: 'bob' });
    await host.platform.says('three', { from: 'bob' });
    await host.quiet();
    const [waiting, underWay] = ids('outbox');

    const answers = [
      await post(`/api/outbox/${waiting}/hold`, { reason: 'wrong' }),
      await post(`/api/outbox/${underWay}/hold`, { reason: 'wrong' }),
    ];
    sent();
    await host.quiet();
    sent();
    await host.quiet();

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    assert.deepEqual(host.states('outbox'), ['dead', 'unknown', 'sent']);
    assert.deepEqual(
      host.events('outbox.held').map(({ data }) => data['was']),
      ['waiting', 'sending'],
    );
  });
});

describe('a change that was made beside a worker', () => {
  it('is followed by it: counts, lanes, and what came back into line', async (t) => {
    const { host, finish, ids } = await operated(t);
    for (const text of ['slow one', 'not this', 'next']) await host.platform.says(text);
    await host.quiet();
    await host.core.writer.commit({ name: 'test', statements: [takeAuthority()] }); // as a start does
    const admin = await besideAdmin(t, host);
    const [one = '', notThis = ''] = ids('inbox');
    await host.engine.outside.load();

    await admin.drop(one, { ...CHANGE, reason: 'kills' });
    await admin.hold(notThis, { ...CHANGE, reason: 'later' });
    await host.engine.outside.look();
    finish();
    await host.quiet();

    assert.deepEqual(host.states('inbox'), ['done', 'dead', 'done']);
    assert.deepEqual(host.platform.said('dm-ann'), ['did next']);
    assert.equal(host.engine.inbox.pending.items, 0);

    await admin.replay(notThis, { ...CHANGE, answer: undefined });
    assert.equal(host.engine.inbox.pending.items, 0, 'nobody has told it yet');
    await host.engine.outside.look();
    await host.engine.outside.look();
    await host.quiet();
    assert.deepEqual(host.platform.said('dm-ann'), ['did next', 'did not this']);
    assert.equal(host.engine.inbox.pending.items, 0);
  });
});

const CHANGE = { caller: { scope: 'full', actor: 'offline', requestId: 'r' }, revision: undefined } as const;
const nothing = (): void => {};
const NOBODY = { release: nothing, returned: nothing, dropped: nothing, reread: nothing };

/** As a command has it, in a process of its own. */
async function besideAdmin(t: TestContext, { core, project }: EngineHost) {
  const file = project.paths.database;
  const reader = new SqliteReader(() => openReadOnly(file));
  t.after(() => reader.close());
  const writer = await outsideWriter({ file, reader, isAlone: false });
  const other = { ...core, clock: systemClock, reader, writer, runtimeId: 'other' as typeof core.runtimeId };
  return createInboxAdmin({ core: other, inbox: NOBODY, dispatcher: NOBODY });
}
