// A sent message as it is on its platform. A long message consists of several parts, each a send of its own.
//
// Keys: the first part has the message's key, the others `<key>.<n>`. Parts with files alone count from n = 1,000.
// An edit adds `<key>.<n>~<edit>` and notes a removed part as `<key>.<n>-<edit>`. The rows under `<key>.` therefore list the current parts in order.
import type { ExpressionBuilder } from 'kysely';
import { sql, statement } from '../database/statement.ts';
import type { Tables } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';
import type { ConversationRef } from '../sdk/index.ts';
import { type OutboxRow, readCall } from './outbox-store.ts';

export interface SentMessage {
  readonly place: ConversationRef;
  /** Keys of the parts, in order. */
  readonly parts: readonly string[];
  /** Keys of parts with files alone, after the others. Edits do not change them. */
  readonly files: readonly string[];
  /** Number of rows read for this message; 0 for a message that the current transaction sends. */
  readonly rows: number;
}

/** Key of a part at its first sending. */
export const partKey = (key: string, index: number): string => (index === 0 ? key : `${key}.${index}`);
const FILES_FROM = 1_000;
/** Key of a part with files alone. It stays the same if edits add parts before it. */
export const filesPartKey = (key: string, index: number): string => partKey(key, FILES_FROM + index);
/** Key of a part that an edit adds. */
export const addedPartKey = (key: string, index: number, edit: string): string => `${key}.${index}~${edit}`;
/** Key of the removal of a part. */
export const removedPartKey = (key: string, index: number, by: string): string => `${key}.${index}-${by}`;

const isOf = (key: string) => (eb: ExpressionBuilder<Tables, 'outbox'>) =>
  eb.or([eb('key', '=', key), eb.and([eb('key', '>', `${key}.`), eb('key', '<', `${key}/`)])]);

/** Undefined if retention has erased the message. */
export async function readSentMessage(reader: Reader, key: string): Promise<SentMessage | undefined> {
  const rows = await reader.all(
    sql
      .selectFrom('outbox')
      .select(['key', 'kind', 'endpoint', 'conversation', 'payload_version', 'body'])
      .where(isOf(key))
      .orderBy('seq'),
  );
  const all = partsOf(key, rows);
  const keysOf = (isFiles: boolean): readonly string[] =>
    all.flatMap(([index, part]) => (index >= FILES_FROM === isFiles ? [part] : []));
  const first = rows.find((row) => row.key === key);
  return first === undefined
    ? undefined
    : { place: placeOf(first), parts: keysOf(false), files: keysOf(true), rows: rows.length };
}

const MOST_BESIDE = 1_000;

/** Key of the message that has this id on its platform, among the newest sends of the conversation. */
export async function readKeyOf(
  reader: Reader,
  {
    endpoint,
    conversation,
    message,
  }: { readonly endpoint: string; readonly conversation: string; readonly message: string },
): Promise<string | undefined> {
  const newest = sql
    .selectFrom('outbox')
    .select(['key', 'platform_message'])
    .where('endpoint', '=', endpoint)
    .where('conversation', '=', conversation)
    .orderBy('seq', 'desc')
    .limit(MOST_BESIDE);
  const found = await reader.first(
    sql.selectFrom(newest.as('newest')).select('key').where('platform_message', '=', message).limit(1),
  );
  return found?.key.split('.', 1)[0];
}

/** Platform ids of the messages that other sends of the conversation made, newest first. */
export async function readMessagesBeside(
  reader: Reader,
  { id, endpoint, conversation }: Pick<OutboxRow, 'id' | 'endpoint' | 'conversation'>,
): Promise<readonly string[]> {
  const sent = sql
    .selectFrom('outbox')
    .select('platform_message')
    .where('endpoint', '=', endpoint)
    .where('conversation', '=', conversation);
  const rows = await reader.all(
    sent.where('id', '!=', id).where('platform_message', 'is not', null).orderBy('seq', 'desc').limit(MOST_BESIDE),
  );
  return rows.flatMap(({ platform_message: message }) => message ?? []);
}

/** Refuses the transaction as `message` if the parts of the message have changed since they were read. */
export const holdMessage = (key: string, { rows }: SentMessage): Statement =>
  statement(sql.selectFrom('outbox').select('seq').where(isOf(key)), { expect: rows, guard: 'message' });

function partsOf(
  key: string,
  rows: readonly Pick<OutboxRow, 'key' | 'kind'>[],
): readonly (readonly [index: number, key: string])[] {
  const parts = new Map<number, string>();
  for (const row of rows) {
    const index = row.key === key ? 0 : Number(/^\d+/.exec(row.key.slice(key.length + 1))?.[0] ?? Number.NaN);
    if (row.kind === 'remove') parts.delete(index);
    else if (row.kind === 'post') parts.set(index, row.key);
  }
  return [...parts].sort(([a], [b]) => a - b);
}

type Row = Pick<OutboxRow, 'endpoint' | 'conversation' | 'payload_version' | 'body'>;

function placeOf(row: Row): ConversationRef {
  const thread = row.body === null ? undefined : readCall(row).thread;
  return { endpoint: row.endpoint, id: row.conversation, ...(thread === undefined ? {} : { thread }) };
}
