// Figures of the metrics that are read from the database at each scrape, by index. Undefined without a database.
import { statSync } from 'node:fs';
import { ALERTS_ACTOR } from '../core/actors.ts';
import type { Core } from '../core/core.ts';
import { isOpen } from '../database/open-rows.ts';
import { countStarts } from '../database/starts-ledger.ts';
import { sql } from '../database/statement.ts';
import type { Reader } from '../database/unit.ts';
import type { StoredFigures } from './metrics.ts';

export async function readStoredFigures({ reader, clock }: Core, file: string): Promise<StoredFigures | undefined> {
  try {
    const oldest = await reader.first(
      sql.selectFrom('inbox').select('received_at as at').where(isOpen).orderBy('seq').limit(1),
    );
    const open = await reader.first(countOf('outbox').where(isOpen));
    const dead = await countDead(reader);
    const alerts = await reader.first(deadSends().where('actor', '=', ALERTS_ACTOR));
    const { first: _, ...restarts } = Object.fromEntries(await countStarts(reader));
    return {
      inboxOldestSeconds: oldest === undefined ? 0 : Math.max(0, clock.now() - oldest.at) / 1_000,
      inboxDead: dead.inbox,
      outboxPending: Number(open?.n ?? 0),
      outboxDead: dead.outbox - Number(alerts?.n ?? 0),
      databaseBytes: sizeOf(file) + sizeOf(`${file}-wal`),
      restarts,
    };
  } catch {
    return undefined; // svc_ready reports the failure; zero dead letters would be a false statement
  }
}

/** Dead letters, or those that died since. Sends of unknown outcome count too, dropped ones do not. */
export async function countDead(
  reader: Reader,
  since?: number,
): Promise<{ readonly inbox: number; readonly outbox: number }> {
  const items = countOf('inbox').where('state', '=', 'dead');
  const inbox = await reader.first(since === undefined ? items : items.where('done_at', '>=', since));
  const sends = deadSends();
  const outbox = await reader.first(since === undefined ? sends : sends.where('done_at', '>=', since));
  return { inbox: Number(inbox?.n ?? 0), outbox: Number(outbox?.n ?? 0) };
}

const countOf = <T extends 'inbox' | 'outbox'>(table: T) =>
  sql.selectFrom(table as 'outbox').select(({ fn }) => fn.countAll<number>().as('n'));

const deadSends = () => countOf('outbox').where('state', 'in', ['dead', 'unknown']).where('is_dropped', '=', 0);

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
