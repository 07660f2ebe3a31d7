// Retention of the event history by number, bytes and age, whichever limit is reached first. Small deletes, oldest first.
//
//   RETENTION-1  Rows are deleted and `event_oldest` is moved in one transaction. So "expired" and "never existed" can be told apart.
//   RETENTION-2  Only a prefix is deleted. So events are missing only at the beginning, where the reader is told of a gap.

import { messageOf } from '../../shared/svc-error.ts';
import type { Clock, Timer } from '../../shared/time/clock.ts';
import { sql, statement } from '../database/statement.ts';
import type { Reader, Statement, Writer } from '../database/unit.ts';

export interface RetentionLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly maxAgeHours: number;
}

export interface RetentionDeps {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  /** The clock for retention, which ignores short jumps of the wall clock. */
  now(): Promise<number>;
  head(): number;
  /** Read at each run, because a reload changes them. */
  limits(): RetentionLimits;
}

export interface EventRetention {
  /** Lowest stored seq; head + 1 if nothing is stored. */
  oldest(): number;
  /** Deletes until the limits are met. Runs each minute after `start`. */
  trim(): Promise<void>;
  start(): void;
  stop(): void;
}

const TRIM_ROWS = 500;
const EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Statements that delete events up to and including `through` and store the new oldest. Without effect if they are deleted already. */
export function trimEvents(through: number): Statement[] {
  return [
    statement(sql.deleteFrom('event_log').where('seq', '<=', through)),
    statement(
      sql
        .updateTable('counters')
        .set({ value: through + 1 })
        .where('name', '=', 'event_oldest')
        .where('value', '<=', through),
    ),
  ];
}

/** `oldest` is the value of the counter `event_oldest` at start. */
export function createEventRetention(
  deps: RetentionDeps,
  options: { readonly oldest: number; readonly everyMs?: number },
): EventRetention {
  let oldest = options.oldest;
  let timer: Timer | undefined;
  let stopped = false;
  let running: Promise<void> | undefined;
  const size = new LogSize(deps.reader);

  async function trimOnce(): Promise<boolean> {
    const head = deps.head();
    const rows = await readOldest(deps.reader);
    const now = await deps.now();
    const through = cutOf(rows, { limits: deps.limits(), head, now, bytes: await size.upTo(head) });
    if (through === undefined) return false;
    await deps.writer.commit({ name: 'events.trim', statements: trimEvents(through) });
    size.removed(rows, through);
    oldest = through + 1;
    return true;
  }
  async function trimAll(): Promise<void> {
    for (;;) {
      if (stopped || !(await trimOnce())) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const trim = (): Promise<void> => {
    running ??= trimAll().finally(() => (running = undefined));
    return running;
  };
  const schedule = (): void => {
    timer = deps.clock.after(options.everyMs ?? EVERY_MS, () => {
      trim()
        .catch((error: unknown) => deps.log.warn({ error: messageOf(error) }, 'event history could not be trimmed'))
        .finally(() => stopped || schedule());
    });
  };
  return {
    oldest: () => oldest,
    trim,
    start: schedule,
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}

interface SizedRow {
  readonly seq: number;
  readonly at: number;
  readonly bytes: number;
}

/** The seq up to which the oldest rows must be deleted. Undefined if none must. */
export function cutOf(
  rows: readonly SizedRow[],
  now: { readonly limits: RetentionLimits; readonly head: number; readonly now: number; readonly bytes: number },
): number | undefined {
  const { maxEvents, maxBytes, maxAgeHours } = now.limits;
  const lastTooMany = now.head - maxEvents;
  const tooOldBefore = now.now - maxAgeHours * HOUR_MS;
  let [cut, bytes]: [number | undefined, number] = [undefined, now.bytes];
  for (const { seq, at, bytes: rowBytes } of rows) {
    if (seq <= lastTooMany || bytes > maxBytes || at < tooOldBefore) cut = seq;
    bytes -= rowBytes;
  }
  return cut;
}

function readOldest(reader: Reader): Promise<SizedRow[]> {
  return reader.all<SizedRow>(
    sql.selectFrom('event_log').select(['seq', 'at', 'bytes']).orderBy('seq').limit(TRIM_ROWS),
  );
}

/** Total bytes of the log: summed once, then updated with each added and deleted row. */
class LogSize {
  readonly #reader: Reader;
  #summedTo = 0;
  #bytes = 0;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async upTo(head: number): Promise<number> {
    const query = sql
      .selectFrom('event_log')
      .select(({ fn }) => fn.sum<number | null>('bytes').as('bytes'))
      .where('seq', '>', this.#summedTo)
      .where('seq', '<=', head);
    const row = await this.#reader.first<{ bytes: number | null }>(query);
    this.#bytes += row?.bytes ?? 0;
    this.#summedTo = head;
    return this.#bytes;
  }

  removed(rows: readonly SizedRow[], through: number): void {
    for (const row of rows) {
      if (row.seq <= through) this.#bytes -= row.bytes;
    }
  }
}
