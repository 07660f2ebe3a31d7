// Dead items in numbers, as copies of the first one that is stored.
import { commitOrThrow } from '../../../worker/core/core.ts';
import type { EngineHost } from './engine-host.ts';

const NUMBERS = `WITH RECURSIVE given(count, code, other) AS (VALUES (?, ?, ?)),
  n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n, given WHERE i < given.count)`;

/** Copies a dead inbox item `count` times, each into a lane of its own, with this cause. Ids are `<code>/<n>`. */
export const copyDead = (
  host: EngineHost,
  count: number,
  { code, handler = null }: { readonly code: string; readonly handler?: string | null },
) =>
  write(
    host,
    [count, code, handler],
    [
      `INSERT INTO inbox (id, endpoint, delivery_id, kind, lane, payload_version, body, sha256, bytes, received_at, state, attempts, last_error,
       done_at, correlation_id, code, failed_handler)`,
      `SELECT given.code || '/' || i, endpoint, given.code || '/' || i, kind, lane || '/' || given.code || '/' || i, payload_version, body, sha256,
       bytes, received_at, state, attempts, last_error, done_at, id, given.code, other
     FROM n, given, (SELECT * FROM inbox WHERE state = 'dead' ORDER BY seq LIMIT 1) ORDER BY i`,
    ],
  );

/** Copies a dead send, each into a conversation of its own. */
export const copyDeadSends = (host: EngineHost, count: number, code: string, state = 'dead') =>
  write(
    host,
    [count, code, state],
    [
      `INSERT INTO outbox (id, key, endpoint, conversation, kind, payload_version, body, sha256, bytes, unsure, state, attempts, last_error, item_id,
       created_at, done_at, code)`,
      `SELECT given.code || '/' || i, given.code || '/' || i, endpoint, conversation || '/' || given.code || '/' || i, kind, payload_version, body,
       sha256, bytes, unsure, other, attempts, last_error, item_id, created_at, done_at, given.code
     FROM n, given, (SELECT * FROM outbox WHERE state = 'dead' ORDER BY seq LIMIT 1) ORDER BY i`,
    ],
  );

const write = ({ core }: EngineHost, parameters: readonly unknown[], [insert, select]: readonly [string, string]) =>
  commitOrThrow(core.writer, { name: 'test', statements: [{ sql: `${insert} ${NUMBERS} ${select}`, parameters }] });
