// Reads the event log for the stream. The newest events come from a ring in memory, older ones as pages of `event_log`.
//
//   LOGWINDOW-1  Events are returned in order and without a gap. Missing rows are visible to the caller.
//   LOGWINDOW-2  Memory is bounded by events and bytes, for any size of the log and any number of clients.
//   LOGWINDOW-3  Clients that replay the same range share one read and one encoding.

import { prepared, sql } from '../database/statement.ts';
import type { Reader } from '../database/unit.ts';
import { type EventRow, eventFrame, type FrameSource, type StreamScope, type Wire } from './stream/frame.ts';

export interface LogWindowOptions {
  readonly ringEvents: number;
  readonly ringBytes: number;
  readonly pageEvents: number;
  readonly pagesKept: number;
}

/** A stored event with its frames, each encoded at first use. */
export class LoggedEvent {
  readonly row: EventRow;
  readonly #frames: Partial<Record<`${StreamScope} ${Wire}`, Buffer>> = {};

  constructor(row: EventRow) {
    this.row = row;
  }

  frame(scope: StreamScope, wire: Wire, source: FrameSource): Buffer {
    const frame = this.#frames[`${scope} ${wire}`] ?? eventFrame(this.row, { scope, wire }, source);
    this.#frames[`${scope} ${wire}`] = frame;
    return frame;
  }
}

const eventsBetween = prepared<{ after: number; through: number; limit: number }>(({ after, through, limit }) =>
  sql
    .selectFrom('event_log')
    .selectAll()
    .where('seq', '>', after)
    .where('seq', '<=', through)
    .orderBy('seq')
    .limit(limit),
);

/** Rows of `event_log` after a seq, in order, at most `limit`. */
export function readEvents(
  reader: Reader,
  { after, limit, through = Number.MAX_SAFE_INTEGER }: { after: number; limit: number; through?: number },
): Promise<EventRow[]> {
  const compiled = eventsBetween({ after, through, limit });
  return reader.all<EventRow>({
    compile: () => compiled,
    execute: () => Promise.reject(new Error('the reader runs it')),
  });
}

export class LogWindow {
  readonly #reader: Reader;
  readonly #options: LogWindowOptions;
  readonly #ring = new Map<number, LoggedEvent>();
  readonly #pages = new Map<number, Promise<readonly LoggedEvent[]>>();
  #ringBytes = 0;
  #first = 1;
  #end = 0;

  constructor(reader: Reader, options: LogWindowOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  /** Highest seq in the ring. */
  get end(): number {
    return this.#end;
  }

  /** Clears the ring and continues from `head`, after a time without readers. */
  reset(head: number): void {
    this.#ring.clear();
    this.#pages.clear();
    this.#ringBytes = 0;
    this.#first = head + 1;
    this.#end = head;
  }

  /** Reads the next events into the ring. False if there are none. */
  async advance(): Promise<boolean> {
    const rows = await readEvents(this.#reader, { after: this.#end, limit: this.#options.pageEvents });
    for (const row of rows) this.#append(row);
    return rows.length > 0;
  }

  /** The last seq that `recent` returns after `cursor`. Undefined if the ring begins later. */
  reach(cursor: number): number | undefined {
    if (cursor + 1 < this.#first) return undefined;
    return Math.max(cursor, Math.min(this.#end, cursor + this.#options.pageEvents));
  }

  /** Events after `cursor` from the ring, at most a page. */
  recent(cursor: number): readonly LoggedEvent[] {
    const events: LoggedEvent[] = [];
    const to = this.reach(cursor) ?? cursor;
    for (let seq = cursor + 1; seq <= to; seq += 1) {
      const event = this.#ring.get(seq);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  /** Events after `cursor` from the log, at most a page. If older rows were deleted, the first event is not `cursor + 1`. */
  async page(cursor: number): Promise<readonly LoggedEvent[]> {
    const size = this.#options.pageEvents;
    const index = Math.floor(cursor / size);
    const events = await (this.#pages.get(index) ?? this.#load(index));
    const after = events.filter(({ row }) => row.seq > cursor);
    if (after.length > 0 || (index + 1) * size > this.#end) return after;
    return (await readEvents(this.#reader, { after: cursor, limit: size })).map((row) => new LoggedEvent(row));
  }

  #load(index: number): Promise<readonly LoggedEvent[]> {
    const size = this.#options.pageEvents;
    const [from, to] = [index * size, (index + 1) * size];
    const page = readEvents(this.#reader, { after: from, through: to, limit: size }).then((rows) =>
      rows.map((row) => new LoggedEvent(row)),
    );
    if (to <= this.#end) this.#keep(index, page);
    return page;
  }

  #keep(index: number, page: Promise<readonly LoggedEvent[]>): void {
    this.#pages.set(index, page);
    page.catch(() => this.#pages.delete(index)); // the caller of the read gets the error
    const oldest = this.#pages.keys().next();
    if (this.#pages.size > this.#options.pagesKept && oldest.done !== true) this.#pages.delete(oldest.value);
  }

  #append(row: EventRow): void {
    if (row.seq !== this.#end + 1) this.reset(row.seq - 1);
    this.#ring.set(row.seq, new LoggedEvent(row));
    this.#end = row.seq;
    this.#ringBytes += row.bytes;
    while (
      this.#ring.size > this.#options.ringEvents ||
      (this.#ringBytes > this.#options.ringBytes && this.#ring.size > 1)
    ) {
      this.#ringBytes -= this.#ring.get(this.#first)?.row.bytes ?? 0;
      this.#ring.delete(this.#first);
      this.#first += 1;
    }
  }
}
