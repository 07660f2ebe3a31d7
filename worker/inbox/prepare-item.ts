// Prepares a delivery for storing: its row, its digest and its event.
import { hash } from 'node:crypto';
import { uuidv7 } from '../../shared/identifiers.ts';
import type { Core } from '../core/core.ts';
import type { Statement } from '../database/unit.ts';
import type { NewEvent } from '../events/event-types.ts';
import { type InboxRow, receiveItem } from './inbox-store.ts';
import { PAYLOAD_VERSION, type Payload, writePayload } from './payload.ts';

export interface Delivery {
  readonly endpoint: string;
  readonly deliveryId: string;
  /** True if the platform gave no id, so the id was made from the body. */
  readonly weak?: boolean;
  readonly payload: Payload;
  readonly lane: string;
  readonly capability?: string;
  readonly actor?: string;
  readonly causationId?: string;
}

export interface PreparedItem {
  /** The row as stored, without its `seq`. */
  readonly row: NewRow;
  readonly insert: Statement;
  readonly events: readonly NewEvent[];
}
export type NewRow = Omit<InboxRow, 'seq'>;

export interface StoredAs {
  readonly id?: string;
  /** Number of the generation in which no handler listens to the item. Such an item is stored as done. */
  readonly passedBy?: number | undefined;
  /** The first attempt begins with the commit and is counted in the same transaction. */
  readonly isClaimed?: boolean;
}

export function prepareItem(
  core: Pick<Core, 'clock' | 'runtimeId'>,
  delivery: Delivery,
  as: StoredAs = {},
): PreparedItem {
  const at = core.clock.now();
  const { id = uuidv7(at), passedBy, isClaimed = false } = as;
  const body = writePayload(delivery.payload);
  const sha256 = hash('sha256', identityOf(delivery.payload, body));
  const bytes = Buffer.byteLength(body);
  const row: NewRow = {
    id,
    endpoint: delivery.endpoint,
    delivery_id: delivery.deliveryId,
    weak: delivery.weak === true ? 1 : 0,
    kind: delivery.payload.kind,
    lane: delivery.lane,
    capability: delivery.capability ?? null,
    payload_version: PAYLOAD_VERSION,
    body,
    sha256,
    bytes,
    received_at: at,
    state: passedBy !== undefined ? 'done' : isClaimed ? 'handling' : 'received',
    attempts: isClaimed ? 1 : 0,
    next_at: null,
    last_error: null,
    done_at: passedBy === undefined ? null : at,
    actor: delivery.actor ?? null,
    correlation_id: id,
    causation_id: delivery.causationId ?? null,
    operator_changes: 0,
    deaths: 0,
    code: null,
    failed_handler: null,
  };
  const { runtimeId } = core;
  const { endpoint } = delivery;
  const received: NewEvent = {
    type: 'inbox.received',
    at,
    runtimeId,
    endpoint,
    correlationId: id,
    causationId: delivery.causationId,
    data: { item: id, kind: row.kind, delivery: row.delivery_id, lane: row.lane, bytes, sha256 },
  };
  if (passedBy === undefined) return { row, insert: receiveItem(row), events: [received] };
  const done: NewEvent = {
    type: 'inbox.done',
    at,
    runtimeId,
    endpoint,
    generation: passedBy,
    correlationId: id,
    causationId: id,
    actor: delivery.actor,
    data: { item: id, attempts: 0, sends: 0, durationMs: 0 },
  };
  return { row, insert: receiveItem(row), events: [received, done] };
}

const SENT_AT = '{"kind":"arrival","arrival":{"sentAt":';

/** The text that makes two deliveries equal. It leaves out the time of sending, which may differ between them. */
function identityOf(payload: Payload, body: string): string {
  if (payload.kind === 'webhook') return payload.text;
  return body.startsWith(SENT_AT) ? body.slice(body.indexOf(',', SENT_AT.length)) : body;
}

export function withoutRepeats<T extends PreparedItem>(items: readonly T[]): readonly T[] {
  const seen = new Set<string>();
  return items.filter(({ row }) => {
    const key = `${row.endpoint} ${row.delivery_id}`;
    return !seen.has(key) && seen.add(key) !== undefined;
  });
}
