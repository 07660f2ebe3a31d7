import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { EPOCH, eventLog, serveEvents } from '../../support/hosts/event-log.ts';
import { openSse, type SseReader } from '../../support/http/sse-reader.ts';
import { until } from '../../support/until.ts';

const seqs = (reader: SseReader): number[] => reader.events().map(({ id }) => Number(id?.split('.')[1]));
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('event stream', () => {
  it('says hello, goes live and follows commits in order', async (t) => {
    const log = eventLog(t);
    const { url } = await serveEvents(t, log);
    await log.emit(3);

    const reader = await openSse(`${url}/api/events`);
    await reader.waitFor('svc.live');
    await log.emit(2, { endpoint: 'root/irc:irc~libera', actor: 'root/irc:irc~libera/alice' });
    await until(() => reader.events().length === 2, { what: 'two events' });

    assert.equal(reader.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(reader.response.headers.get('cache-control'), 'no-store, no-transform');
    assert.equal(reader.response.headers.get('x-accel-buffering'), 'no');
    const [hello, live] = reader.blocks;
    assert.equal(hello?.event, 'svc.hello');
    assert.equal(hello?.id, undefined);
    assert.ok((hello?.retry ?? 0) >= 2_000);
    assert.deepEqual(
      { ...hello?.data, serverTime: '' },
      {
        protocol: 'svc-sse/1',
        epoch: EPOCH,
        head: 3,
        oldest: 1,
        resumed: false,
        replay: null,
        heartbeatMs: 15_000,
        serverTime: '',
      },
    );
    assert.equal(live?.id, `${EPOCH}.3`);
    const event = reader.events()[0]?.data;
    assert.equal(event?.['source'], '/svc/project-1');
    assert.equal(event?.['subject'], 'item-4');
    assert.equal(event?.['endpoint'], 'root/irc:irc~libera');
    assert.deepEqual(event?.['data'], { item: 'item-4', attempts: 1, sends: 4, durationMs: 0 });
    assert.deepEqual(seqs(reader), [4, 5]);
    reader.close();
  });

  it('resumes after an id from before the process, each event once', async (t) => {
    const log = eventLog(t);
    await log.emit(1_500);
    const { url } = await serveEvents(t, log);

    const reader = await openSse(`${url}/api/events`, { 'last-event-id': `${EPOCH}.100` });
    await reader.waitFor('svc.live');
    await log.emit(3);
    await until(() => seqs(reader).at(-1) === 1_503, { what: 'the newest event' });

    assert.deepEqual(seqs(reader), range(101, 1_503));
    assert.deepEqual(reader.find('svc.hello')?.data['replay'], { from: 101, to: 1_500, count: 1_400 });
    reader.close();
  });

  it('answers each kind of bad id with an explicit gap and goes on from the oldest', async (t) => {
    const log = eventLog(t);
    await log.emit(20);
    await log.commit([
      { sql: 'DELETE FROM event_log WHERE seq <= 5', parameters: [] },
      { sql: "UPDATE counters SET value = 6 WHERE name = 'event_oldest'", parameters: [] },
    ]);
    const { url, counts } = await serveEvents(t, log);
    const cases = [
      { id: 'garbage', reason: 'malformed', missed: null },
      { id: `${EPOCH}.007`, reason: 'malformed', missed: null },
      { id: `${EPOCH}.99999999999999999999`, reason: 'malformed', missed: null },
      { id: 'x'.repeat(8_000), reason: 'malformed', missed: null },
      { id: 'zzzzzzzz01234567.3', reason: 'epoch_changed', missed: null },
      { id: `${EPOCH}.21`, reason: 'ahead', missed: null },
      { id: `${EPOCH}.2`, reason: 'expired', missed: 3 },
    ];
    for (const { id, reason, missed } of cases) {
      const reader = await openSse(`${url}/api/events`, { 'last-event-id': id });
      await reader.waitFor('svc.live');

      const gap = reader.find('svc.gap');
      assert.equal(gap?.id, `${EPOCH}.5`);
      assert.equal(gap?.data['reason'], reason);
      assert.equal(gap?.data['missed'], missed);
      assert.equal(gap?.data['oldest'], 6);
      assert.deepEqual(seqs(reader), range(6, 20));
      reader.close();
    }
    assert.deepEqual(
      counts.gaps,
      cases.map(({ reason }) => reason),
    );
    const edge = await openSse(`${url}/api/events`, { 'last-event-id': `${EPOCH}.5` });
    await edge.waitFor('svc.live');
    assert.equal(edge.find('svc.gap'), undefined);
    assert.deepEqual(seqs(edge), range(6, 20));
    edge.close();
  });

  it('jumps to the head or answers 410 where the client asks for it', async (t) => {
    const log = eventLog(t);
    await log.emit(4);
    const { url, counts } = await serveEvents(t, log);

    const head = await openSse(`${url}/api/events?gap=head&lastEventId=nonsense`);
    await head.waitFor('svc.live');
    const failed = await fetch(`${url}/api/events?gap=fail&lastEventId=nonsense`);

    assert.equal(head.find('svc.gap')?.id, `${EPOCH}.4`);
    assert.deepEqual(seqs(head), []);
    assert.equal(failed.status, 410);
    assert.deepEqual(await failed.json(), {
      code: 'history_expired',
      message: 'the stream cannot go on from this id: malformed',
      reason: 'malformed',
      missed: null,
      epoch: EPOCH,
      oldest: 1,
      head: 4,
    });
    assert.deepEqual(counts.gaps, ['malformed', 'malformed'], 'a refusal is told and counted as a gap is');
    head.close();
  });

  it('filters by type and endpoint and moves a filtered client on with bookmarks', async (t) => {
    const log = eventLog(t);
    const { url } = await serveEvents(t, log, { heartbeatMs: 40 });
    const reader = await openSse(`${url}/api/events?types=inbox.*&endpoints=irc~libera`);
    const none = await openSse(`${url}/api/events?types=ready.changed`);
    await Promise.all([reader.waitFor('svc.live'), none.waitFor('svc.live')]);

    await log.emit(2, { endpoint: 'root/irc:irc~oftc' });
    await log.emit(1, { endpoint: 'root/irc:irc~libera' });
    await until(() => reader.events().length === 1, { what: 'the event that passes' });
    const isNewest = ({ event, id }: { event: string; id: string | undefined }): boolean =>
      event === 'svc.bookmark' && id === `${EPOCH}.3`;
    const bookmark = await until(() => none.blocks.find(isNewest), { what: 'the bookmark of the newest event' });
    await until(() => none.comments.length > 0, { what: 'a heartbeat' });

    assert.deepEqual(seqs(reader), [3]);
    assert.deepEqual(bookmark.data, { head: 3 });
    assert.equal((await fetch(`${url}/api/events?types=..`)).status, 400);
    reader.close();
    none.close();
  });

  it('sends a bookmark each 1,000 events that a filter holds back, while it replays', async (t) => {
    const log = eventLog(t);
    await log.emit(3_000);
    const { url } = await serveEvents(t, log);

    const reader = await openSse(`${url}/api/events?types=ready.changed`, { 'last-event-id': `${EPOCH}.0` });
    await reader.waitFor('svc.live');

    const ids = reader.blocks
      .filter(({ event }) => event === 'svc.bookmark')
      .map(({ id }) => Number(id?.split('.')[1]));
    assert.ok(ids.length >= 2 && ids.every((id, index) => id - (ids[index - 1] ?? 0) <= 2_000), String(ids));
    reader.close();
  });

  it('shows demo scope only the fields that the registry names', async (t) => {
    const log = eventLog(t);
    const { url } = await serveEvents(t, log);
    const reader = await openSse(`${url}/api/events?as=demo`);
    await reader.waitFor('svc.live');

    await log.record([
      {
        type: 'inbox.received',
        at: 1,
        runtimeId: 'r',
        actor: 'alice',
        correlationId: 'c',
        data: { item: 'i', kind: 'arrival', delivery: 'secret-delivery', lane: 'alice', bytes: 3, sha256: 'd' },
      },
    ]);
    await until(() => reader.events().length === 1, { what: 'the event' });

    const event = reader.events()[0]?.data;
    assert.deepEqual(event?.['data'], { item: 'i', kind: 'arrival' });
    assert.doesNotMatch(JSON.stringify(event), /alice|secret-delivery/);
    reader.close();
  });

  it('tells clients to come back soon when it drains, and takes no more', async (t) => {
    const log = eventLog(t);
    const { url, gateway } = await serveEvents(t, log);
    const reader = await openSse(`${url}/api/events`);
    await reader.waitFor('svc.live');

    await gateway.drain();
    await until(() => reader.ended, { what: 'the end of the stream' });

    const drain = reader.find('svc.drain');
    assert.ok(drain?.retry !== undefined && drain.retry >= 250 && drain.retry <= 1_000);
    assert.equal(drain.id, undefined);
    assert.equal((await fetch(`${url}/api/events`)).status, 503);
  });

  it('counts streams a token and ends those whose token is gone', async (t) => {
    const log = eventLog(t);
    const { url, gateway, counts } = await serveEvents(t, log);
    const old = await openSse(`${url}/api/events?name=old`);
    const kept = await openSse(`${url}/api/events?name=kept`);
    await Promise.all([old.waitFor('svc.live'), kept.waitFor('svc.live')]);
    assert.equal(gateway.openStreams('token:old'), 1);

    gateway.closeRevoked(new Set(['token:kept']));
    await until(() => old.ended, { what: 'the end of the revoked stream' });

    assert.equal(gateway.openStreams('token:old'), 0);
    assert.equal(kept.ended, false);
    kept.close();
    await until(() => counts.clients === 0, { what: 'the last client to leave' });
  });

  it('answers HTTP/1.0 and HEAD without raw chunks', async (t) => {
    const log = eventLog(t);
    const { port, url } = await serveEvents(t, log);
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    let text = '';
    socket.on('data', (data) => void (text += data.toString()));

    socket.write('GET /api/events HTTP/1.0\r\nHost: x\r\n\r\n');
    await until(() => text.includes('svc.live'), { what: 'the first frames' });

    assert.match(text, /\r\n\r\nretry: \d+\nevent: svc\.hello\ndata: /);
    assert.equal((await fetch(`${url}/api/events`, { method: 'HEAD' })).status, 200);
  });
});
