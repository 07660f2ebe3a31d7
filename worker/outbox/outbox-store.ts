// Statements and reads of the outbox. A send is stored before its call. Its key is the same on each attempt.
import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { isOpen } from '../database/open-rows.ts';
import { prepared, preparedRead, sql, statement } from '../database/statement.ts';
import type { OutboxTable } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';
import { NEXT_GUARD } from '../lanes/claim-ahead.ts';
import type { LaneItem } from '../lanes/lanes.ts';
import type { LeftInHand } from '../lanes/quarantine.ts';
import type { FileRef, MessageRef } from '../sdk/index.ts';
import type { SetBack } from '../timers/due-store.ts';
import type { StoredButton } from './compose.ts';

export const OUTGOING_VERSION = 1;

/** Stored form of one platform call. References to the bot's own sends are resolved before the call. */
export type StoredCall =
  | {
      readonly kind: 'post' | 'edit';
      readonly text: string;
      readonly buttons: readonly StoredButton[];
      readonly files: readonly FileRef[];
      readonly message?: MessageRef;
      readonly replyTo?: MessageRef;
      readonly thread?: string;
      readonly threadOf?: MessageRef;
      readonly only?: string;
    }
  | { readonly kind: 'remove'; readonly message: MessageRef; readonly thread?: string }
  | {
      readonly kind: 'react';
      readonly message: MessageRef;
      readonly emoji: string;
      readonly on: boolean;
      readonly thread?: string;
    };

export interface NewSend {
  readonly id: string;
  readonly key: string;
  readonly endpoint: string;
  readonly conversation: string;
  readonly call: StoredCall;
  readonly unsure: 'again' | 'hold';
  readonly itemId: string | null;
  readonly createdAt: number;
  readonly actor: string | null;
  readonly correlationId: string | null;
  /** Reason why the send cannot go out. Such a row is stored as a dead letter. */
  readonly refused: string | null;
  /** The send starts as soon as it is stored; its first attempt is counted in the same transaction. */
  readonly isClaimed: boolean;
}

export interface PreparedSend {
  /** The row as stored, without its `seq`. */
  readonly row: NewOutboxRow;
  readonly insert: Statement;
}
export type NewOutboxRow = Omit<OutboxRow, 'seq'>;

const insertSend = prepared<NewOutboxRow>((row) =>
  sql.insertInto('outbox').values({
    id: row.id,
    key: row.key,
    endpoint: row.endpoint,
    conversation: row.conversation,
    kind: row.kind,
    payload_version: row.payload_version,
    body: row.body,
    sha256: row.sha256,
    bytes: row.bytes,
    unsure: row.unsure,
    state: row.state,
    attempts: row.attempts,
    last_error: row.last_error,
    code: row.code,
    item_id: row.item_id,
    created_at: row.created_at,
    done_at: row.done_at,
    actor: row.actor,
    correlation_id: row.correlation_id,
    causation_id: row.causation_id,
  }),
);

export function prepareSend({ call, refused, isClaimed, ...send }: NewSend): PreparedSend {
  const body = JSON.stringify(call);
  const isUnderWay = refused === null && isClaimed;
  const row: NewOutboxRow = {
    id: send.id,
    key: send.key,
    endpoint: send.endpoint,
    conversation: send.conversation,
    kind: call.kind,
    payload_version: OUTGOING_VERSION,
    body,
    sha256: hash('sha256', body),
    bytes: Buffer.byteLength(body),
    unsure: send.unsure,
    state: refused !== null ? 'dead' : isUnderWay ? 'sending' : 'pending',
    attempts: isUnderWay ? 1 : 0,
    failures: 0,
    next_at: null,
    platform_message: null,
    last_error: refused,
    item_id: send.itemId,
    created_at: send.createdAt,
    done_at: refused === null ? null : send.createdAt,
    actor: send.actor,
    correlation_id: send.correlationId,
    causation_id: send.itemId,
    operator_changes: 0,
    is_dropped: 0,
    code: refused === null ? null : 'not_sendable',
  };
  return { row, insert: insertSend(row) };
}

/** Throws if this program does not know the version of the body. */
export function readCall(row: Pick<OutboxRow, 'payload_version' | 'body'>): StoredCall {
  if (row.body === null) throw new Error('the text of this send was erased by retention');
  if (row.payload_version !== OUTGOING_VERSION)
    throw new Error(`payload version ${row.payload_version} is not known to this svc (it knows ${OUTGOING_VERSION})`);
  return JSON.parse(row.body) as StoredCall;
}

export type OutboxRow = Selectable<OutboxTable>;
export const OPEN = ['pending', 'sending', 'waiting'] as const;

const claim = ({ id }: { readonly id: string }) =>
  sql
    .updateTable('outbox')
    .set(({ eb }) => ({ state: 'sending' as const, attempts: eb('attempts', '+', 1), next_at: null }))
    .where('id', '=', id)
    .where('state', 'in', OPEN);

/** Counts the attempt on disk before the call, so that an attempt without a result is recognised after a crash. */
export const claimSend = prepared<{ id: string }>(claim, { expect: 1, guard: 'send' });

/** Claims the next send of a lane in the transaction that ends the send before it. */
export const claimNextSend = prepared<{ id: string }>(claim, { expect: 1, guard: NEXT_GUARD });

/** Ends the wait of a send. */
const isDue = (id: string): readonly Statement[] => [endWait({ id })];

const endWait = prepared<{ id: string }>(({ id }) =>
  sql.updateTable('outbox').set({ next_at: null }).where('id', '=', id).where('state', '=', 'waiting'),
);

/** The wall clock was set back. Waits are moved back by the same amount, so nothing waits longer. */
const bringForward = ({ byMs, after }: SetBack): readonly Statement[] => [
  statement(
    sql
      .updateTable('outbox')
      .set(({ eb }) => ({ next_at: eb('next_at', '-', byMs) }))
      .where(isOpen)
      .where('next_at', '>', after),
  ),
];

/** How the timer service changes the waits of sends. */
export const sendWaits = { isDue, bringForward };

/** `attempts` is stored again for calls that were not counted beforehand (platforms with idempotency keys). */
export const finishSend = prepared<{ id: string; message: string | null; at: number; attempts: number }>(
  ({ id, message, at, attempts }) =>
    sql
      .updateTable('outbox')
      .set({ state: 'sent', platform_message: message, done_at: at, attempts, next_at: null, last_error: null })
      .where('id', '=', id)
      .where('state', 'in', OPEN),
  { expect: 1, guard: 'send' },
);

export const postponeSend = prepared<{
  id: string;
  nextAt: number;
  error: string;
  attempts: number;
  failures: number;
}>(
  ({ id, nextAt, error, attempts, failures }) =>
    sql
      .updateTable('outbox')
      .set({ state: 'waiting', next_at: nextAt, last_error: error, attempts, failures })
      .where('id', '=', id)
      .where('state', 'in', OPEN),
  { expect: 1, guard: 'send' },
);

export const endSend = prepared<{
  id: string;
  state: 'dead' | 'unknown';
  at: number;
  code: string;
  error: string;
  attempts: number;
}>(
  ({ id, state, at, code, error, attempts }) =>
    sql
      .updateTable('outbox')
      .set({ state, done_at: at, next_at: null, last_error: error, attempts, code })
      .where('id', '=', id)
      .where('state', 'in', OPEN),
  { expect: 1, guard: 'send' },
);

/** A send in its lane: one conversation of one endpoint. */
export type SendHead = LaneItem;

export const laneOf = (endpoint: string, conversation: string): string => JSON.stringify([endpoint, conversation]);
const HEAD = ['seq', 'id', 'endpoint', 'conversation', 'next_at as nextAt'] as const;
type HeadRow = Omit<SendHead, 'lane'> & { readonly conversation: string };
const toHead = ({ seq, id, endpoint, conversation, nextAt }: HeadRow): SendHead => ({
  seq,
  id,
  endpoint,
  lane: laneOf(endpoint, conversation),
  nextAt,
});

/** Head of a send that is being stored. Its `seq` is known after the commit. */
export const headOf = ({ id, endpoint, conversation }: NewOutboxRow): SendHead => ({
  seq: 0,
  id,
  endpoint,
  lane: laneOf(endpoint, conversation),
  nextAt: null,
});

const openSends = preparedRead<{ after: number; limit: number }, HeadRow>(({ after, limit }) =>
  sql.selectFrom('outbox').select(HEAD).where(isOpen).where('seq', '>', after).orderBy('seq').limit(limit),
);
export const readOpenSends = async (reader: Reader, after: number, limit: number): Promise<SendHead[]> =>
  (await reader.all(openSends({ after, limit }))).map(toHead);

export async function readSendLane(
  reader: Reader,
  { lane, after, limit }: { lane: string; after: number; limit: number },
): Promise<SendHead[]> {
  const [endpoint, conversation] = JSON.parse(lane) as [string, string];
  const query = sql
    .selectFrom('outbox')
    .select(HEAD)
    .where('endpoint', '=', endpoint)
    .where('conversation', '=', conversation)
    .where(isOpen);
  return (await reader.all(query.where('seq', '>', after).orderBy('seq').limit(limit))).map(toHead);
}

/** Sends whose call was under way when the process died. */
export async function readSendsInHand(reader: Reader): Promise<readonly LeftInHand[]> {
  const query = sql.selectFrom('outbox').select(['id', 'attempts', 'failures']);
  const rows = await reader.all(query.where(isOpen).where('state', '=', 'sending'));
  return rows.map((row) => ({ id: row.id, deaths: deathsOf(row), isWaiting: false }));
}

/** Number of process deaths during a call of this send: attempts that have no end. */
export const deathsOf = ({ attempts, failures }: Pick<OutboxRow, 'attempts' | 'failures'>): number =>
  attempts - failures;

const sendById = preparedRead<{ id: string }, OutboxRow>(({ id }) =>
  sql.selectFrom('outbox').selectAll().where('id', '=', id),
);
export const readSend = (reader: Reader, id: string): Promise<OutboxRow | undefined> => reader.first(sendById({ id }));

export const readSendByKey = (reader: Reader, key: string): Promise<OutboxRow | undefined> =>
  reader.first(sql.selectFrom('outbox').selectAll().where('key', '=', key));
