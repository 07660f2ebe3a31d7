// Answers given under an Idempotency-Key, kept for a day. The same request gets the same answer; another request with that key is refused.
import { type Core, commitOrThrow } from '../core/core.ts';
import { sql, statement } from '../database/statement.ts';
import type { Unit } from '../database/unit.ts';
import type { IdempotencyStore, KeptAnswer } from '../http/answer/kept-answer.ts';

export function createIdempotency({
  writer,
  reader,
  clock,
  point,
}: Pick<Core, 'writer' | 'reader' | 'clock' | 'point'>): IdempotencyStore {
  /** First requests under way in this process. A row without an answer and without an entry here belongs to an end that could not be stored. */
  const running = new Set<string>();
  const end = async (key: string, route: string, unit: Unit): Promise<void> => {
    try {
      await commitOrThrow(writer, unit);
    } finally {
      running.delete(nameOf(key, route));
    }
  };
  const look = async (key: string, route: string, digest: string): Promise<Begun> => {
    const row = { key, route, request_digest: digest, status: null, body: null, headers: null, at: clock.now() };
    const answer = await writer.commit({
      name: 'idempotency.begin',
      statements: [statement(sql.insertInto('idempotency').values(row))],
    });
    if (answer.kind === 'committed') return { kind: 'new' };
    const known = await reader.first(
      sql.selectFrom('idempotency').selectAll().where('key', '=', key).where('route', '=', route),
    );
    if (known === undefined) return { kind: 'running' };
    if (known.request_digest !== digest) return { kind: 'conflict' };
    if (known.status === null) return { kind: 'running' };
    return {
      kind: 'known',
      status: known.status,
      body: known.body === null ? undefined : (JSON.parse(known.body) as unknown),
      headers: known.headers === null ? {} : (JSON.parse(known.headers) as KeptAnswer['headers']),
    };
  };
  return {
    async begin(key, route, digest) {
      const name = nameOf(key, route);
      const isFirst = !running.has(name);
      running.add(name); // before the first await: of two concurrent requests one is the first
      let begun: Begun | undefined;
      try {
        begun = await look(key, route, digest);
      } finally {
        if (isFirst && begun?.kind !== 'running' && begun?.kind !== 'new') running.delete(name);
      }
      if (FAILPOINTS && begun.kind === 'new') await point('begun');
      if (begun.kind === 'new') running.add(name); // the previous request has ended meanwhile and removed the name
      return isFirst && begun.kind === 'running' ? { kind: 'new' } : begun;
    },
    keeping: (key, route, answer) => [keepAnswer({ key, route }, answer)],
    async finish(key, route, answer) {
      if (FAILPOINTS) await point('changed');
      await end(key, route, { name: 'idempotency.finish', statements: [keepAnswer({ key, route }, answer)] });
    },
    async abandon(key, route) {
      const gone = statement(
        sql.deleteFrom('idempotency').where('key', '=', key).where('route', '=', route).where('status', 'is', null),
      );
      await end(key, route, { name: 'idempotency.abandon', statements: [gone] });
    },
  };
}

const keepAnswer = (of: { readonly key: string; readonly route: string }, { status, body, headers }: KeptAnswer) =>
  statement(
    sql
      .updateTable('idempotency')
      .set({ status, body: body === undefined ? null : JSON.stringify(body), headers: JSON.stringify(headers) })
      .where('key', '=', of.key)
      .where('route', '=', of.route),
  );

type Begun = Awaited<ReturnType<IdempotencyStore['begin']>>;

const nameOf = (key: string, route: string): string => `${route}\n${key}`;

/** Run at start. A process died before it stored an answer or effect for these keys, so they are free again. */
export const forgetUnfinished = () => statement(sql.deleteFrom('idempotency').where('status', 'is', null));
