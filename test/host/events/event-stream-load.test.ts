import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { EPOCH, type EventLogFixture, eventLog, serveEvents } from '../../support/hosts/event-log.ts';
import { openSse, type SseReader } from '../../support/http/sse-reader.ts';
import { until } from '../../support/until.ts';

const seqs = (reader: SseReader): number[] => reader.events().map(({ id }) => Number(id?.split('.')[1]));
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('event stream under load and faults', () => {
  it('cuts a client that never reads, keeps memory bounded, and lets it resume exactly', async (t) => {
    const log = eventLog(t);
    const { port, counts, server } = await serveEvents(t, log, { stallMs: 150, highWaterBytes: 64 * 1024 });
    let peer: Socket | undefined;
    server.once('connection', (accepted) => {
      peer = accepted;
    });
    await log.emit(1);
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write(`GET /api/events HTTP/1.1\r\nHost: x\r\nLast-Event-ID: ${EPOCH}.0\r\n\r\n`);
    socket.pause();
    await until(() => counts.clients === 1, { what: 'the silent client' });

    await until(
      async () => {
        await log.emit(2_000);
        assert.ok((peer?.writableLength ?? 0) <= 2 * 64 * 1024 + 8_192, 'what waits in the socket is bounded');
        return counts.slowClosed === 1;
      },
      { what: 'the cut of the silent client', everyMs: 75 },
    );

    const chunks: Buffer[] = [];
    socket.on('data', (data) => chunks.push(data)).resume();
    await new Promise((resolve) => socket.on('close', resolve).on('error', () => {}));
    const seen = [
      ...Buffer.concat(chunks)
        .toString()
        .matchAll(/^id: \w+\.(\d+)\nevent: inbox[^\n]*\ndata: [^\n]*\n$/gm),
    ].map((match) => Number(match[1]));
    assert.deepEqual(seen, range(1, seen.length));
    const { url } = await serveEvents(t, log); // this one shall not be cut for a moment of a busy machine
    const reader = await openSse(`${url}/api/events`, { 'last-event-id': `${EPOCH}.${seen.length}` });
    await reader.waitFor('svc.live');
    assert.deepEqual(seqs(reader), range(seen.length + 1, log.head()));
    reader.close();
  });

  it('gives a lagging client a gap when history moves past it, never a hole', async (t) => {
    const log = eventLog(t);
    const { port, counts } = await serveEvents(t, log, { highWaterBytes: 64 * 1024, ringEvents: 64, pagesKept: 1 });
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write('GET /api/events HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.pause();
    await until(() => counts.clients === 1, { what: 'the client' });
    for (let round = 0; round < 15; round += 1) await log.emit(2_000);
    const oldest = log.head() - 10;
    await log.commit([
      { sql: 'DELETE FROM event_log WHERE seq < ?', parameters: [oldest] },
      { sql: "UPDATE counters SET value = ? WHERE name = 'event_oldest'", parameters: [oldest] },
    ]);

    let text = '';
    socket.on('data', (data) => void (text += data.toString())).resume();
    await until(() => text.includes(`id: ${EPOCH}.${log.head()}\n`), { what: 'the newest event' });

    const ids = [...text.matchAll(/^id: \w+\.(\d+)\nevent: ([\w.]+)\ndata: ([^\n]*)/gm)];
    assert.equal(counts.gaps.filter((reason) => reason === 'slow_consumer').length, 1);
    let previous = 0;
    for (const [, id, event] of ids) {
      if (event === 'svc.gap') assert.equal(Number(id), oldest - 1);
      else if (event === 'inbox.done') assert.equal(Number(id), previous + 1);
      previous = Number(id);
    }
  });

  it('writes through a response that something has wrapped', async (t) => {
    const log = eventLog(t);
    const { url, server } = await serveEvents(t, log);
    let written = 0;
    server.prependListener('request', (_request, response) => {
      const write = response.write.bind(response);
      response.write = (chunk: string | Uint8Array) => {
        written += chunk.length;
        return write(chunk);
      };
    });

    const reader = await openSse(`${url}/api/events`);
    await reader.waitFor('svc.live');
    await log.emit(50);
    await until(() => reader.events().length === 50, { what: 'the events' });

    assert.deepEqual(seqs(reader), range(1, 50));
    assert.ok(written > 5_000);
    reader.close();
  });

  it('gives hundreds of clients that come, lag and go every event once', async (t) => {
    const log = eventLog(t);
    const { url, counts } = await serveEvents(t, log, {
      sliceClients: 16,
      ringEvents: 32,
      pageEvents: 16,
      pagesKept: 2,
    });
    await log.emit(100);
    const opened = await Promise.all(
      Array.from({ length: 120 }, (_, index) => openSse(`${url}/api/events`, { 'last-event-id': `${EPOCH}.${index}` })),
    );

    for (let round = 0; round < 30; round += 1) {
      await log.emit(1 + (round % 7));
      if (round % 5 === 0) opened.pop()?.close();
    }
    await until(() => opened.every((reader) => seqs(reader).at(-1) === log.head()), {
      what: 'every client at the head',
    });

    opened.forEach((reader, index) => {
      const from = index > 100 ? 0 : index;
      assert.deepEqual(seqs(reader), range(from + 1, log.head()), `client ${index}`);
    });
    assert.ok(counts.gaps.every((reason) => reason === 'ahead'));
    for (const reader of opened) reader.close();
    await until(() => counts.clients === 0, { what: 'all clients to leave' });
  });

  it('gives the gap at once when everything was trimmed before it was read', async (t) => {
    const log = eventLog(t);
    const { url } = await serveEvents(t, log);
    const reader = await openSse(`${url}/api/events`);
    await reader.waitFor('svc.live');

    await log.commit([
      { sql: "UPDATE counters SET value = value + 5 WHERE name = 'event'", parameters: [] },
      { sql: "UPDATE counters SET value = 6 WHERE name = 'event_oldest'", parameters: [] },
    ]);
    const gap = await reader.waitFor('svc.gap');
    await log.emit(1);
    await until(() => reader.events().length === 1, { what: 'the event after the gap' });

    assert.deepEqual([gap.id, gap.data['reason'], gap.data['missed']], [`${EPOCH}.5`, 'slow_consumer', 5]);
    assert.deepEqual(seqs(reader), [6]);
    reader.close();
  });

  it('goes on when the database cannot be read for a while', async (t) => {
    const log = eventLog(t);
    let broken = false;
    const reader: EventLogFixture['reader'] = {
      all: (query) => (broken ? Promise.reject(new Error('disk I/O error')) : log.reader.all(query)),
      first: (query) => log.reader.first(query),
      run: (text, parameters) => log.reader.run(text, parameters),
    };
    const { url, counts } = await serveEvents(t, { ...log, reader });
    await log.emit(3);
    const live = await openSse(`${url}/api/events`);
    await live.waitFor('svc.live');

    broken = true;
    await log.emit(2);
    await until(() => counts.warnings.length > 0, { what: 'the failed read' });
    const replaying = await openSse(`${url}/api/events`, { 'last-event-id': `${EPOCH}.1` });
    await until(() => replaying.ended, { what: 'the end of a stream that cannot be read' });
    broken = false;
    await until(() => live.events().length === 2, { what: 'the events after the repair' });
    const again = await openSse(`${url}/api/events`, { 'last-event-id': replaying.lastId() ?? `${EPOCH}.1` });
    await again.waitFor('svc.live');

    assert.deepEqual(seqs(live), [4, 5]);
    assert.deepEqual(seqs(again), [2, 3, 4, 5]);
    live.close();
    again.close();
  });
});
