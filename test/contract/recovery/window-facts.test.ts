// What the verdict of a release reads from a real database: only what lies in its window, and in the equal span before the release.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRuntimeId } from '../../../shared/identifiers.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import type { Reader, Statement } from '../../../worker/database/unit.ts';
import { recordEvents } from '../../../worker/events/event-history.ts';
import type { NewEvent } from '../../../worker/events/event-types.ts';
import { OPEN, writeIngress } from '../../../worker/ingress/stored-pause.ts';
import { PAGE_ROWS } from '../../../worker/recovery/release/paged-rows.ts';
import { judge } from '../../../worker/recovery/release/verdict.ts';
import { readWindow } from '../../../worker/recovery/release/window-facts.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { openRoom } from '../../support/workroom/room.ts';

const MINUTE_MS = 60_000;
const BEGUN = Date.parse('2026-01-05T12:00:00Z');
const OBSERVED = BEGUN + 5 * MINUTE_MS;
const NOW = OBSERVED + 60 * MINUTE_MS;
const RUNTIME = newRuntimeId();
const IRC = 'root/irc:irc~libera';

let serial = 0;
const item = (state: string, at: number, isOpen = false): Statement => {
  serial += 1;
  return {
    sql: `INSERT INTO inbox (id, endpoint, delivery_id, weak, kind, lane, payload_version, body, sha256, bytes, received_at, state, attempts, done_at)
      VALUES (?, 'e', ?, 0, 'arrival', 'l', 1, NULL, '', 0, ?, ?, 1, ?)`,
    parameters: [`i${serial}`, `d${serial}`, at, state, isOpen ? null : at],
  };
};
const send = (state: string, at: number): Statement => {
  serial += 1;
  return {
    sql: `INSERT INTO outbox (id, key, endpoint, conversation, kind, payload_version, body, sha256, bytes, unsure, state, attempts, created_at, done_at)
      VALUES (?, ?, 'e', 'c', 'post', 1, NULL, '', 0, 'again', ?, 1, ?, ?)`,
    parameters: [`o${serial}`, `k${serial}`, state, at, at],
  };
};
const start = (end: string, at: number): Statement => {
  serial += 1;
  return {
    sql: `INSERT INTO starts (runtime_id, number, at, pid, owner, version, node, previous_end) VALUES (?, ?, ?, 1, 'daemon', '0', 'v', ?)`,
    parameters: [`run${serial}`, serial, at, end],
  };
};
const ready = (isReady: boolean, at: number): NewEvent => ({
  type: 'ready.changed',
  at,
  runtimeId: RUNTIME,
  data: { ready: isReady, state: isReady ? 'ready' : 'not_ready', unmet: [] },
});
const account = (to: string, at: number): NewEvent => ({
  type: 'endpoint.state_changed',
  at,
  runtimeId: RUNTIME,
  endpoint: IRC,
  data: { from: 'connecting', to, failures: 0, code: null, reason: null },
});

async function facts(t: Cleanup, rows: readonly Statement[], events: readonly NewEvent[] = []) {
  const { core } = await openRoom(t);
  const answer = await core.writer.commit({ name: 'test', statements: [...rows, ...recordEvents([...events])] });
  assert.equal(answer.kind, 'committed');
  return readWindow(core.reader, { begunAt: BEGUN, observedAt: OBSERVED, now: NOW }, [IRC]);
}

describe('the facts of a window', () => {
  it('count ends within it and within the span before, and nothing beside', async (t) => {
    const found = await facts(t, [
      item('done', BEGUN - 60 * MINUTE_MS - 1),
      item('done', BEGUN - 60 * MINUTE_MS),
      item('dead', BEGUN - 1),
      item('done', BEGUN),
      item('done', OBSERVED),
      item('done', NOW - 1),
      item('dead', NOW - 1),
      item('done', NOW),
      send('sent', OBSERVED),
      send('dead', OBSERVED),
      send('unknown', OBSERVED),
      start('crashed', BEGUN - 1),
      start('crashed', OBSERVED),
      start('stopped', OBSERVED),
    ]);

    const { handled, deadOrUnknown, crashes } = found.before;
    assert.deepEqual({ handled, deadOrUnknown, crashes }, { handled: 1, deadOrUnknown: 1, crashes: 1 });
    assert.equal(found.since.handled, 2);
    assert.equal(found.since.deadOrUnknown, 3);
    assert.equal(found.since.crashes, 1);
    assert.equal(found.oldestWaitingMs, 0);
  });

  it('measure the longest time without readiness, up to now where it lasts', async (t) => {
    const ended = await facts(t, [], [ready(false, OBSERVED), ready(true, OBSERVED + 61_000)]);
    const lasting = await facts(t, [], [ready(true, OBSERVED), ready(false, NOW - 90_000)]);

    assert.equal(ended.since.longestNotReadyMs, 61_000);
    assert.equal(judge(ended).verdict, 'bad');
    assert.equal(lasting.since.longestNotReadyMs, 90_000);
  });

  it('name an account that was online before and is not', async (t) => {
    const lost = await facts(t, [], [account('online', BEGUN - 10), account('offline', NOW - 400_000)]);
    const back = await facts(
      t,
      [],
      [account('online', BEGUN - 10), account('offline', NOW - 9), account('online', NOW - 1)],
    );
    const never = await facts(t, [], [account('offline', BEGUN - 10)]);

    assert.deepEqual(lost.lostAccounts, [{ name: IRC, forMs: 400_000 }]);
    assert.deepEqual(back.lostAccounts, []);
    assert.deepEqual(never.lostAccounts, []);
  });

  it('count the wait of a parked message from the resume', async (t) => {
    const { oldestWaitingMs } = await facts(t, [item('received', BEGUN, true)]);

    assert.equal(oldestWaitingMs, NOW - OBSERVED);
  });

  it('count no wait while ingress is paused, and from its end when it is open again', async (t) => {
    const pausedAt = new Date(OBSERVED + 1).toISOString();
    const openedAt = NOW - 5_000;

    const paused = await facts(t, [
      item('received', BEGUN, true),
      ...writeIngress({ ...OPEN, state: 'paused', since: pausedAt }),
    ]);
    const opened = await facts(t, [
      item('received', BEGUN, true),
      ...writeIngress({ ...OPEN, since: new Date(openedAt).toISOString() }),
    ]);

    assert.deepEqual([paused.oldestWaitingMs, opened.oldestWaitingMs], [0, 5_000]);
  });

  it('are read in pages that an index finds, so that a serving host goes on between them', async (t) => {
    const { core, file } = await openRoom(t);
    const many = 2 * PAGE_ROWS + 7;
    const rows = Array.from({ length: many }, () => item('done', OBSERVED)); // all of one millisecond
    const events = Array.from({ length: many }, (_, index) => account('offline', OBSERVED + index));
    const history = [account('online', BEGUN - 10), ready(false, OBSERVED), ...events, ready(true, NOW - 1)];
    await core.writer.commit({ name: 'test', statements: [...rows, ...recordEvents(history)] });
    const database = new Sqlite(file, { readonly: true });
    t.after(() => database.close());
    const most: number[] = [];
    const slow: string[] = [];
    const all: Reader['all'] = async (query) => {
      const { sql, parameters } = query.compile();
      const plan = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
      const isWhole = (detail: string): boolean => detail.startsWith('SCAN') && !/limit|starts/.test(sql);
      if (plan.some(({ detail }) => detail.includes('TEMP B-TREE') || isWhole(detail))) slow.push(sql);
      const found = await core.reader.all(query);
      most.push(found.length);
      return found;
    };
    const reader: Reader = { all, first: async (query) => (await all(query))[0] };

    const found = await readWindow(reader, { begunAt: BEGUN, observedAt: OBSERVED, now: NOW }, [IRC]);

    assert.deepEqual([found.since.handled, found.since.longestNotReadyMs], [many, NOW - 1 - OBSERVED]);
    assert.deepEqual(found.lostAccounts, [{ name: IRC, forMs: NOW - (OBSERVED + many - 1) }]);
    assert.equal(Math.max(...most), PAGE_ROWS);
    assert.deepEqual(slow, []);
  });
});
