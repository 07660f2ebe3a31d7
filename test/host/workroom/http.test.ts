// The Workroom of a whole host over HTTP: commands, rights of tokens, versions, the journal, proofs.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { withFile } from '../../support/workroom/room.ts';

const CONFIG = {
  host: { name: 'team', kind: 'workroom' },
  http: HTTP,
  plugins: { sandbox: {}, work: {} },
} as const;

type Json = Record<string, unknown>;

async function start(t: Cleanup): Promise<Running> {
  const host = await running(t, { config: CONFIG });
  await command(host, { kind: 'board.add', board: 'web', name: 'Web site' });
  await command(host, { kind: 'member.add', member: 'ann' });
  await command(host, { kind: 'role.grant', board: 'web', member: 'ann', role: 'worker' });
  return host;
}

async function command(host: Running, body: unknown): Promise<Json> {
  const { status, json, text } = await host.call('POST', '/api/workroom/commands', body);
  assert.equal(status, 200, text);
  return json;
}

const fetchWith = (
  host: Running,
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> },
) =>
  fetch(`http://127.0.0.1:${host.app.address()?.port}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${host.project.token}`, 'content-type': 'application/json', ...init.headers },
  });

describe('Workroom over HTTP', () => {
  it('carries out commands, and shows items, boards, members and the journal', async (t) => {
    const host = await start(t);
    const made = await command(host, { kind: 'new', board: 'web', title: 'Home page', assign: 'ann' });
    assert.deepEqual(made, { stream: 'item/web-1', item: 'web-1', version: 2, state: 'assigned' });
    const shown = await host.call('GET', '/api/workroom/items/web-1');
    assert.equal(shown.json['title'], 'Home page');
    assert.equal(shown.headers.get('etag'), '"2"');
    const { json: page } = await host.call('GET', '/api/workroom/items?board=web&state=assigned');
    assert.equal((page['items'] as Json[]).length, 1);
    const { json: overview } = await host.call('GET', '/api/workroom');
    assert.deepEqual(overview['boards'], [{ board: 'web', states: { assigned: 1 } }]);
    const { json: log } = await host.call('GET', '/api/workroom/events?stream=item/web-1');
    const events = log['events'] as Json[];
    assert.deepEqual(
      events.map(({ kind, actor, texts }) => [kind, actor, texts]),
      [
        ['item.created', 'token:full', { title: 'Home page' }],
        ['item.assigned', 'token:full', {}],
      ],
    );
  });

  it('gives the same Idempotency-Key the same answer, and makes one item', async (t) => {
    const host = await start(t);
    const body = JSON.stringify({ kind: 'new', board: 'web', title: 'One' });
    const ask = async (): Promise<unknown> =>
      (
        await fetchWith(host, '/api/workroom/commands', { method: 'POST', body, headers: { 'idempotency-key': 'k1' } })
      ).json();
    assert.deepEqual(await ask(), await ask());
    const { json } = await host.call('GET', '/api/workroom/items');
    assert.equal((json['items'] as Json[]).length, 1);
  });

  it('refuses with the reason, and changes nothing', async (t) => {
    const host = await start(t);
    await command(host, { kind: 'new', board: 'web', title: 'One' });
    const refused = await host.call('POST', '/api/workroom/commands', { kind: 'accept', item: 'web-1' });
    assert.deepEqual(
      [refused.status, refused.json['code'], (refused.json['details'] as Json)['reason']],
      [409, 'command_refused', 'wrong_state'],
    );
    const cases: readonly (readonly [unknown, number])[] = [
      [{ kind: 'comment', item: 'web-9', text: 'x' }, 404],
      [{ kind: 'new', board: 'no', title: 'x' }, 404],
      [{ kind: 'paint', item: 'web-1' }, 400],
      [{ kind: 'comment', item: 'web-1', text: 'x', colour: 'red' }, 400],
      [{ kind: 'comment', item: 'web-1', text: 'x'.repeat(16_385) }, 400],
      [{ kind: 'comment', item: '../1', text: 'x' }, 400],
    ];
    for (const [body, status] of cases)
      assert.equal((await host.call('POST', '/api/workroom/commands', body)).status, status, JSON.stringify(body));
    const stale = await fetchWith(host, '/api/workroom/commands', {
      method: 'POST',
      body: JSON.stringify({ kind: 'comment', item: 'web-1', text: 'x' }),
      headers: { 'if-match': '"7"' },
    });
    assert.equal(stale.status, 412);
    assert.equal((await host.call('GET', '/api/workroom/items/web-1')).headers.get('etag'), '"1"');
  });

  it('is not there on a bot, and a plugin that needs it does not serve', async (t) => {
    const bot = await running(t, { config: { http: HTTP, plugins: { sandbox: {} } } });
    assert.equal((await bot.call('GET', '/api/workroom')).status, 404);
    const refused = await running(t, { config: { http: HTTP, plugins: { sandbox: {}, work: {} } } });
    const status = (await refused.call('GET', '/api/system/status')).text;
    assert.match(status, /uses workroom, which this host does not have configured/);
  });

  it('joins an account by a code, once', async (t) => {
    const host = await start(t);
    const { json } = await host.call('POST', '/api/workroom/members/ann/code', {});
    let seen = 0;
    const say = async (text: string): Promise<string> => {
      const said = await host.call('POST', '/api/chat/say', { person: 'ann', text, delivery: randomUUID() });
      assert.ok(said.status < 300, said.text);
      for (;;) {
        const page = await host.call('GET', `/api/chat/messages?person=ann&after=${seen}`);
        const { messages, cursor } = page.json as { messages: Json[]; cursor: number };
        const answer = messages.find(({ from }) => from === 'svc');
        if (answer !== undefined) {
          seen = cursor;
          return String(answer['text']);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    assert.match(await say(`/work join ${String(json['code'])}`), /^Welcome, ann/);
    assert.match(await say(`/work join ${String(json['code'])}`), /not valid/);
    assert.match(await say('/work new web: By ann'), /web-1/);
    const { json: log } = await host.call('GET', '/api/workroom/events?stream=item/web-1');
    assert.equal((log['events'] as Json[])[0]?.['actor'], 'member:ann');
  });

  it('erases the words of an item or of a member, and the journal still holds', async (t) => {
    const host = await start(t);
    await command(host, { kind: 'member.link', member: 'ann', endpoint: 'sandbox', user: 'ann-at-home' });
    await command(host, { kind: 'new', board: 'web', title: 'Home page' });
    const erase = (body: unknown) => host.call('POST', '/api/workroom/erase', body);
    for (const body of [{}, { item: 'web-1', member: 'ann' }, { board: 'web' }])
      assert.equal((await erase(body)).status, 400, JSON.stringify(body));
    assert.equal((await erase({ item: 'web-9' })).status, 404);
    assert.deepEqual((await erase({ item: 'web-1' })).json, { streams: 1, events: 1 });
    assert.deepEqual((await erase({ member: 'ann' })).json, { streams: 1, events: 1 });

    const shown = await host.call('GET', '/api/workroom/items/web-1');
    assert.deepEqual([shown.json['title'], shown.headers.get('etag')], [null, '"2"']);
    const { json: members } = await host.call('GET', '/api/workroom/members');
    assert.deepEqual((members['members'] as Json[])[0]?.['accounts'], [
      { endpoint: 'root/sandbox:sandbox', user: null },
    ]);
    assert.deepEqual((await host.call('POST', '/api/workroom/verify', {})).json['faults'], []);
  });

  it('erases words in a journal that is kept in files', async (t) => {
    const host = await running(t, { config: { ...CONFIG, workroom: { store: 'file' } } });
    await command(host, { kind: 'board.add', board: 'web', name: 'Web site' });
    await command(host, { kind: 'new', board: 'web', title: 'Home page' });
    assert.deepEqual((await host.call('POST', '/api/workroom/erase', { item: 'web-1' })).json, {
      streams: 1,
      events: 1,
    });
    assert.equal((await host.call('GET', '/api/workroom/items/web-1')).json['title'], null);
    const folder = join(host.project.path, '.svc/workroom-journal');
    for (const name of readdirSync(folder)) assert.doesNotMatch(readFileSync(join(folder, name), 'utf8'), /Home page/);
    assert.deepEqual((await host.call('POST', '/api/workroom/verify', {})).json['faults'], []);
  });

  it('proves the journal, and stops commands on a stream that was damaged', async (t) => {
    const host = await start(t);
    await command(host, { kind: 'new', board: 'web', title: 'One' });
    await command(host, { kind: 'new', board: 'web', title: 'Two' });
    const sound = await host.call('POST', '/api/workroom/verify', {});
    assert.deepEqual(sound.json['faults'], []);
    const metrics = async (): Promise<string> => (await host.call('GET', '/api/metrics')).text;
    assert.match(await metrics(), /^svc_workroom_items\{.*board="web",state="open".*\} 2$/m);
    assert.match(await metrics(), /^svc_workroom_journal_ok\{.*\} 1$/m);
    withFile(host.project.path.concat('/.svc/data.sqlite'), (database) => {
      database.exec('DROP TRIGGER workroom_events_unchanged');
      database.exec("UPDATE workroom_events SET actor = 'member:eve' WHERE stream = 'item/web-1'");
    });
    const damaged = await host.call('POST', '/api/workroom/verify', {});
    const [fault] = damaged.json['faults'] as Json[];
    assert.deepEqual([fault?.['fault'], fault?.['stream']], ['changed', 'item/web-1']);
    assert.match(await metrics(), /^svc_workroom_journal_ok\{.*\} 0$/m);
    const refused = await host.call('POST', '/api/workroom/commands', { kind: 'comment', item: 'web-1', text: 'x' });
    assert.equal((refused.json['details'] as Json)['reason'], 'stream_quarantined');
    await command(host, { kind: 'comment', item: 'web-2', text: 'goes on' });

    await command(host, { kind: 'release', stream: 'item/web-1', reason: 'looked at: the words are right' });
    await command(host, { kind: 'comment', item: 'web-1', text: 'goes on, too' });
    const again = await host.call('POST', '/api/workroom/verify', {});
    assert.equal((again.json['faults'] as Json[])[0]?.['stream'], 'item/web-1');
    await command(host, { kind: 'comment', item: 'web-1', text: 'still goes on' });
  });
});
