// Answers given under an Idempotency-Key, kept for a day: the same request again gets the same answer, another one is refused.
import { type Core, commitOrThrow } from '../core.ts';
import { sql, statement } from '../database/statement.ts';
import type { Unit } from '../database/unit.ts';
import type { IdempotencyStore, KeptAnswer } from '../http/host-port.ts';

export function createIdempotency({
  writer,
  reader,
  clock,
}: Pick<Core, 'writer' | 'reader' | 'clock'>): IdempotencyStore {
  /** First requests under way. A row without an answer that is not here is left of an end that could not be stored. */
  const running = new Set<string>();
  const end = async (key: string, route: string, unit: Unit): Promise<void> => {
    try {
      await commitOrThrow(writer, unit);
    } finally {
      running.delete(nameOf(key, route));
    }
  };
  return {
    async begin(key, route, digest) {
      const row = { key, route, request_digest: digest, status: null, body: null, headers: null, at: clock.now() };
      const answer = await writer.commit({
        name: 'idempotency.begin',
        statements: [statement(sql.insertInto('idempotency').values(row))],
      });
      if (answer.kind === 'committed') {
        running.add(nameOf(key, route));
        return { kind: 'new' };
      }
      const known = await reader.first(
        sql.selectFrom('idempotency').selectAll().where('key', '=', key).where('route', '=', route),
      );
      if (known === undefined) return { kind: 'running' };
      if (known.request_digest !== digest) return { kind: 'conflict' };
      if (known.status === null) {
        if (running.has(nameOf(key, route))) return { kind: 'running' };
        running.add(nameOf(key, route));
        return { kind: 'new' };
      }
      return {
        kind: 'known',
        status: known.status,
        body: known.body === null ? undefined : (JSON.parse(known.body) as unknown),
        headers: known.headers === null ? {} : (JSON.parse(known.headers) as KeptAnswer['headers']),
      };
    },
    async finish(key, route, { status, body, headers }) {
      const kept = statement(
        sql
          .updateTable('idempotency')
          .set({ status, body: body === undefined ? null : JSON.stringify(body), headers: JSON.stringify(headers) })
          .where('key', '=', key)
          .where('route', '=', route),
      );
      await end(key, route, { name: 'idempotency.finish', statements: [kept] });
    },
    async abandon(key, route) {
      const gone = statement(
        sql.deleteFrom('idempotency').where('key', '=', key).where('route', '=', route).where('status', 'is', null),
      );
      await end(key, route, { name: 'idempotency.abandon', statements: [gone] });
    },
  };
}

const nameOf = (key: string, route: string): string => `${route}\n${key}`;

/** At the start: what a process that died had begun is open again. Whether it had an effect is told by its guards. */
export const forgetUnfinished = () => statement(sql.deleteFrom('idempotency').where('status', 'is', null));
