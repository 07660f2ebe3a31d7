// Rows of a span of time, in pages with turns of the event loop between them. The window of a release may hold millions of rows, and a serving host
// reads them on its main thread each minute.
import { turns } from '../../core/turns.ts';
import { sql } from '../../database/statement.ts';
import type { Reader } from '../../database/unit.ts';

export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Rows that one read looks at: a few milliseconds of the loop. */
export const PAGE_ROWS = 1_000;
/** Events are stored in order, but their times are taken before: no event is later than its follower by more. */
const DISORDER_MS = 60_000;

/** Number of items or sends by the state in which they ended within the span. */
export async function countEnds(
  reader: Reader,
  table: 'inbox' | 'outbox',
  { from, until }: Span,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let last = { at: from, seq: 0 };
  for (;;) {
    const rows = await reader.all(
      sql
        .selectFrom(table)
        .select(['seq', 'state', 'done_at'])
        .where('done_at', 'is not', null)
        .where('done_at', '>=', last.at)
        .where('done_at', '<', until)
        .where(({ eb }) => eb.or([eb('done_at', '>', last.at), eb('seq', '>', last.seq)]))
        .orderBy('done_at')
        .orderBy('seq')
        .limit(PAGE_ROWS),
    );
    for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
    const final = rows.at(-1);
    if (final === undefined || rows.length < PAGE_ROWS) return counts;
    last = { at: final.done_at ?? until, seq: final.seq };
    await turns(1);
  }
}

export interface FoundEvent {
  readonly at: number;
  readonly type: string;
  readonly endpoint: string | null;
  readonly data: string;
}

/** Events of the types within the span, the oldest first. */
export async function* eventsIn(reader: Reader, types: readonly string[], span: Span): AsyncGenerator<FoundEvent> {
  const [first, end] = [await seqAt(reader, span.from - DISORDER_MS), await seqAt(reader, span.until + DISORDER_MS)];
  for (let seq = first; seq < end; seq += PAGE_ROWS) {
    const rows = await eventPage(reader, types, { first: seq, end: Math.min(end, seq + PAGE_ROWS) });
    yield* rows.filter(({ at }) => at >= span.from && at < span.until);
    await turns(1);
  }
}

/** Events of the types before a time, the newest first. */
export async function* eventsBefore(
  reader: Reader,
  types: readonly string[],
  until: number,
): AsyncGenerator<FoundEvent> {
  const [oldest, end] = [await seqAt(reader, 0), await seqAt(reader, until + DISORDER_MS)];
  for (let seq = end; seq > oldest; seq -= PAGE_ROWS) {
    const rows = await eventPage(reader, types, { first: seq - PAGE_ROWS, end: seq });
    yield* rows.filter(({ at }) => at < until).toReversed();
    await turns(1);
  }
}

const eventPage = (
  reader: Reader,
  types: readonly string[],
  { first, end }: { readonly first: number; readonly end: number },
): Promise<FoundEvent[]> =>
  reader.all(
    sql
      .selectFrom('event_log')
      .select(['at', 'type', 'endpoint', 'data'])
      .where('seq', '>=', first)
      .where('seq', '<', end)
      .where('type', 'in', types)
      .orderBy('seq'),
  );

/** Number of the first event that is not older, found by halving; the one after the last where all are. */
async function seqAt(reader: Reader, at: number): Promise<number> {
  const edge = async (order: 'asc' | 'desc'): Promise<number | undefined> =>
    (await reader.first(sql.selectFrom('event_log').select('seq').orderBy('seq', order).limit(1)))?.seq;
  let [low, high] = [(await edge('asc')) ?? 1, ((await edge('desc')) ?? 0) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await reader.first(
      sql.selectFrom('event_log').select(['seq', 'at']).where('seq', '>=', middle).orderBy('seq').limit(1),
    );
    if (row !== undefined && row.at < at) low = row.seq + 1;
    else high = middle;
  }
  return low;
}
