// The event history, as statements that join the transaction of a change. So an event is stored together with its change, or not at all.
//
//   HISTORY-1  seq increases by exactly one and is assigned inside the transaction. The counter changes together with the rows.
//   HISTORY-2  Only retention deletes rows, oldest first, and `event_oldest` changes in the same transaction. So "expired" and "never
//              existed" can be told apart.

import { prepared, sql } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import { eventKind, type NewEvent } from './event-types.ts';

const advanceCounter = prepared<{ by: number }>(
  ({ by }) =>
    sql
      .updateTable('counters')
      .set(({ eb }) => ({ value: eb('value', '+', by) }))
      .where('name', '=', 'event'),
  { expect: 1, guard: 'event_counter' },
);

interface EventValues {
  readonly back: number;
  readonly at: number;
  readonly type: string;
  readonly version: number;
  readonly subject: string | null;
  readonly endpoint: string | null;
  readonly runId: string | null;
  readonly actor: string | null;
  readonly correlationId: string | null;
  readonly causationId: string | null;
  readonly runtimeId: string;
  readonly generation: number | null;
  readonly data: string;
  readonly bytes: number;
}

const insertEvent = prepared<EventValues>((value) =>
  sql.insertInto('event_log').values((eb) => ({
    seq: eb
      .selectFrom('counters')
      .select(({ eb }) => eb('counters.value', '-', value.back).as('seq'))
      .where('name', '=', 'event'),
    at: value.at,
    type: value.type,
    version: value.version,
    subject: value.subject,
    endpoint: value.endpoint,
    run_id: value.runId,
    actor: value.actor,
    correlation_id: value.correlationId,
    causation_id: value.causationId,
    runtime_id: value.runtimeId,
    generation: value.generation,
    data: value.data,
    bytes: value.bytes,
  })),
);

/** Statements that store the events in order, with the next numbers. Put them at the end of their cause's transaction. */
export function recordEvents(events: readonly NewEvent[]): Statement[] {
  if (events.length === 0) return [];
  const last = events.length - 1;
  return [
    advanceCounter({ by: events.length }),
    ...events.map((event, index) => insertEvent(valuesOf(event, last - index))),
  ];
}

function valuesOf(event: NewEvent, back: number): EventValues {
  const data = JSON.stringify(event.data ?? {});
  const kind = eventKind(event.type);
  return {
    back,
    at: event.at,
    type: event.type,
    version: kind?.version ?? 1,
    subject: event.subject ?? (kind === undefined ? null : itemOf(event.data)),
    endpoint: event.endpoint ?? null,
    runId: event.runId ?? null,
    actor: event.actor ?? null,
    correlationId: event.correlationId ?? null,
    causationId: event.causationId ?? null,
    runtimeId: event.runtimeId,
    generation: event.generation ?? null,
    data,
    bytes: Buffer.byteLength(data),
  };
}

function itemOf(data: unknown): string | null {
  if (typeof data !== 'object' || data === null || !('item' in data)) return null;
  return typeof data.item === 'string' ? data.item : null;
}
