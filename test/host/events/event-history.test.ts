import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { systemClock } from '../../../shared/time/clock.ts';
import { recordEvents } from '../../../worker/events/event-history.ts';
import { createEventRetention, type EventRetention, type RetentionLimits } from '../../../worker/events/retention.ts';
import { EPOCH, type EventLogFixture, eventLog, serveEvents } from '../../support/hosts/event-log.ts';
import { openSse } from '../../support/http/sse-reader.ts';

const NO_LIMITS: RetentionLimits = { maxEvents: 1_000_000, maxBytes: 1_000_000_000, maxAgeHours: 1_000_000 };

function retentionOf(log: EventLogFixture, limits: Partial<RetentionLimits>, oldest = log.oldest()): EventRetention {
  return createEventRetention(
    {
      reader: log.reader,
      writer: log.writer,
      clock: systemClock,
      log: { warn: () => {} },
      now: () => Promise.resolve(systemClock.now()),
      head: () => log.head(),
      limits: () => ({ ...NO_LIMITS, ...limits }),
    },
    { oldest },
  );
}
const stored = (log: EventLogFixture): number[] =>
  log.reader.run<{ seq: number }>('SELECT seq FROM event_log ORDER BY seq').map(({ seq }) => seq);

describe('event history', () => {
  it('numbers events strictly by one, and a refused unit takes none (HISTORY-1)', async (t) => {
    const log = eventLog(t);
    await log.emit(3);
    const refused = await log.writer.commit({
      name: 'refused',
      statements: [
        ...recordEvents([{ type: 'endpoint.enabled', at: 1, runtimeId: 'r', data: {} }]),
        { sql: 'UPDATE counters SET value = 1 WHERE name = ?', parameters: ['nothing'], expect: 1 },
      ],
    });
    await log.emit(2);

    assert.equal(refused.kind, 'refused');
    assert.deepEqual(stored(log), [1, 2, 3, 4, 5]);
    assert.equal(log.head(), 5);
  });

  it('trims by events, bytes and age and keeps the number of the oldest (RETENTION-1)', async (t) => {
    const log = eventLog(t);
    await log.emit(1_200, { at: Date.now() - 7_200_000 });
    await log.emit(300);
    const bytes = Number(
      log.reader.run<{ bytes: number }>('SELECT sum(bytes) AS bytes FROM event_log WHERE seq > 1400')[0]?.bytes,
    );

    const byCount = retentionOf(log, { maxEvents: 1_490 });
    await byCount.trim();
    assert.deepEqual([byCount.oldest(), log.oldest(), stored(log)[0]], [11, 11, 11]);
    const byAge = retentionOf(log, { maxAgeHours: 1 });
    await byAge.trim();
    assert.deepEqual([byAge.oldest(), log.oldest(), stored(log)[0]], [1_201, 1_201, 1_201]);
    const byBytes = retentionOf(log, { maxBytes: bytes });
    await byBytes.trim();
    assert.deepEqual([byBytes.oldest(), log.oldest(), stored(log)[0]], [1_401, 1_401, 1_401]);

    await log.emit(5);
    await byBytes.trim();
    assert.ok(byBytes.oldest() > 1_401, 'the size is kept without a new scan');
    const everything = retentionOf(log, { maxEvents: 0 });
    await everything.trim();
    assert.deepEqual([everything.oldest(), stored(log)], [log.head() + 1, []]);
  });

  it('gives a resume from any id over any trim every event once, or an explicit gap', async (t) => {
    const log = eventLog(t);
    const { url } = await serveEvents(t, log, { pageEvents: 8, ringEvents: 16, pagesKept: 2, batchBytes: 600 });
    const step = fc.record({
      emit: fc.integer({ min: 0, max: 40 }),
      keep: fc.integer({ min: 0, max: 60 }),
      id: fc.nat(2_000),
    });
    await fc.assert(
      fc.asyncProperty(step, async ({ emit, keep, id }) => {
        await log.emit(emit);
        await retentionOf(log, { maxEvents: keep }).trim();
        const asked = id % (log.head() + 3);

        const reader = await openSse(`${url}/api/events`, { 'last-event-id': `${EPOCH}.${asked}` });
        await reader.waitFor('svc.live');
        reader.close();

        const seen = reader.events().map((block) => Number(block.id?.split('.')[1]));
        const gap = reader.find('svc.gap');
        const from = gap === undefined ? asked : Number(gap.id?.split('.')[1]);
        assert.deepEqual(
          seen,
          Array.from({ length: log.head() - from }, (_, index) => from + index + 1),
        );
        assert.equal(gap === undefined, asked >= log.oldest() - 1 && asked <= log.head());
      }),
      { numRuns: 60 },
    );
  });

  it('pages the same history as JSON, and says where a page cannot go on', async (t) => {
    const log = eventLog(t);
    await log.emit(30);
    await retentionOf(log, { maxEvents: 25 }).trim();
    const { gateway } = await serveEvents(t, log);
    const query = {
      caller: { scope: 'full', actor: 'a', requestId: 'r' },
      types: undefined,
      endpoints: undefined,
    } as const;
    const ids = (page: Readonly<Record<string, unknown>>): string[] =>
      (page['items'] as { id: string }[]).map(({ id }) => id);

    const first = await gateway.page({ ...query, after: undefined, limit: 10 });
    const second = await gateway.page({ ...query, after: String(first['next']), limit: 100 });
    const none = await gateway.page({ ...query, after: undefined, limit: 10, types: 'ready.changed' });

    assert.deepEqual([ids(first)[0], ids(first).length, first['next']], [`${EPOCH}.6`, 10, `${EPOCH}.15`]);
    assert.deepEqual(
      [ids(second)[0], ids(second).at(-1), second['next'], second['position']],
      [`${EPOCH}.16`, `${EPOCH}.30`, undefined, gateway.position()],
    );
    assert.deepEqual([ids(none), none['position']], [[], gateway.position()]);
    await assert.rejects(gateway.page({ ...query, after: 'x', limit: 1 }), { code: 'invalid_request' });
    await assert.rejects(gateway.page({ ...query, after: `${EPOCH}.1`, limit: 1 }), { code: 'history_expired' });
    await assert.rejects(gateway.page({ ...query, after: `${EPOCH}.31`, limit: 1 }), { code: 'history_expired' });
  });
});
