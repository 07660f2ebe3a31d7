// Pages of the event history as JSON: `GET /api/events?format=json&after=<id>&limit=`.
import type { EventEnvelope, EventPage } from '../../shared/api/event.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Reader } from '../database/unit.ts';
import { decideResume, formatEventId, type HistoryBounds } from './cursor.ts';
import type { EventFilter } from './filter.ts';
import { readEvents } from './log-window.ts';
import { type EventRow, envelopeJson, type FrameSource, type StreamScope } from './stream/frame.ts';

export interface PageQuery {
  readonly after: string | undefined;
  readonly limit: number;
  readonly filter: EventFilter;
  readonly scope: StreamScope;
}

const MAX_LIMIT = 1_000;
/** A page scans at most this many rows. If the filter drops most of them, the page ends early, with `next`. */
const MAX_SCANNED = 5_000;
const READ_ROWS = 500;

/** Events after an id, oldest first. Throws `invalid_request` for a malformed id and `history_expired` if the history has a gap there. */
export async function readEventPage(
  reader: Reader,
  { source, bounds }: { source: FrameSource; bounds: HistoryBounds },
  query: PageQuery,
): Promise<EventPage> {
  const limit = Math.min(Math.max(1, query.limit), MAX_LIMIT);
  const start = startOf(query.after, bounds);
  const items: EventEnvelope[] = [];
  let [cursor, scanned] = [start, 0];
  while (items.length < limit && scanned < MAX_SCANNED && cursor < bounds.head) {
    const rows = await readEvents(reader, { after: cursor, limit: READ_ROWS });
    if (rows.length === 0) break;
    refuseHole(rows[0], cursor, { start, bounds });
    scanned += rows.length;
    for (const row of rows) {
      if (items.length === limit || row.seq > bounds.head) break;
      cursor = row.seq;
      if (query.filter.matches(row.type, row.endpoint))
        items.push(JSON.parse(envelopeJson(row, query.scope, source)) as EventEnvelope);
    }
  }
  const { epoch, oldest, head } = bounds;
  const position = formatEventId(epoch, cursor);
  return { items, ...(cursor < head ? { next: position } : {}), position, epoch, oldest, head };
}

function startOf(after: string | undefined, bounds: HistoryBounds): number {
  if (after === undefined || after === '') return bounds.oldest - 1;
  const resume = decideResume(after, bounds, 'oldest');
  if (resume.kind !== 'gap') return resume.from;
  const { reason, missed } = resume.gap;
  if (reason === 'malformed') throw new SvcError('invalid_request', '"after" is not an event id');
  throw new SvcError('history_expired', `the history cannot go on from this id: ${reason}`, {
    hint: 'leave "after" out to begin with the oldest event there is',
    details: { reason, missed, epoch: bounds.epoch, oldest: bounds.oldest, head: bounds.head },
  });
}

/** Throws if rows were deleted while the page was read, so that no event is skipped silently. */
function refuseHole(
  first: EventRow | undefined,
  cursor: number,
  { start, bounds }: { start: number; bounds: HistoryBounds },
): void {
  if (first === undefined || first.seq === cursor + 1 || cursor === bounds.oldest - 1) return;
  throw new SvcError('history_expired', 'the history moved past this page while it was read', {
    details: {
      reason: 'expired',
      missed: first.seq - start - 1,
      epoch: bounds.epoch,
      oldest: first.seq,
      head: bounds.head,
    },
  });
}
