// A message of ours as it lies on its platform: one that was too long for it lies there in several parts, each a send of its own.
//
//   The first part has the message's key, the others `<key>.<n>`, from 1,000 on those that are files alone. What an edit adds is `<key>.<n>~<edit>`, what it takes away is
//   noted by `<key>.<n>-<edit>`: so the rows under `<key>.` tell, in order, which parts there are.
import type { ExpressionBuilder } from 'kysely';
import { sql, statement } from '../database/statement.ts';
import type { Tables } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';
import type { ConversationRef } from '../sdk/index.ts';
import { type OutboxRow, readCall } from './outbox-store.ts';

export interface SentMessage {
  readonly place: ConversationRef;
  /** Keys of the sends, in order. */
  readonly parts: readonly string[];
  /** Of those that are files alone, behind the others: no edit changes them. */
  readonly files: readonly string[];
  /** How many rows said so; 0 for what this unit itself sends. */
  readonly rows: number;
}

/** The key of a part at its first sending. */
export const partKey = (key: string, index: number): string => (index === 0 ? key : `${key}.${index}`);
const FILES_FROM = 1_000;
/** Of files alone, whatever parts edits may add before them. */
export const filesPartKey = (key: string, index: number): string => partKey(key, FILES_FROM + index);
/** Of one that an edit adds. */
export const addedPartKey = (key: string, index: number, edit: string): string => `${key}.${index}~${edit}`;
/** Of the removal of a part. */
export const removedPartKey = (key: string, index: number, by: string): string => `${key}.${index}-${by}`;

const isOf = (key: string) => (eb: ExpressionBuilder<Tables, 'outbox'>) =>
  eb.or([eb('key', '=', key), eb.and([eb('key', '>', `${key}.`), eb('key', '<', `${key}/`)])]);

/** Undefined when retention has taken it. */
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

/** What the other sends of the conversation have made on the platform, the newest first. */
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

/** Refuses the unit as `message` when the parts of a message are no longer those that were read: another unit has changed them. */
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
