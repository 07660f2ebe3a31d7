// Dead items of inbox and outbox by cause, for an operator: which account, which handler, which code, how many.
//
//   CAUSE-GROUPS-1  The newest MOST_LOOKED items are looked at, PIECE at a time. The event loop turns between the pieces.
import { sql as raw } from 'kysely';
import { capabilityForDemo } from '../../shared/identifiers.ts';
import type { Core } from '../core/core.ts';
import { sql } from '../database/statement.ts';
import type { CauseGroup, CauseGroups, LostState } from '../http/api/items-api.ts';
import { iso } from './item-page.ts';

export type Table = 'inbox' | 'outbox';

/** The code of items that an older version has stored. */
export const UNRECORDED = 'unrecorded';

const MOST_LOOKED = 100_000;
const PIECE = 5_000;
const MOST_GROUPS = 200;

/** Columns that differ between the tables. A dropped send stays `dead` until retention removes it. */
export const handlerOf = (table: Table) => (table === 'inbox' ? raw<string | null>`failed_handler` : raw<null>`NULL`);
export const isUndecided = (table: Table) => (table === 'inbox' ? raw<boolean>`1` : raw<boolean>`is_dropped = 0`);

interface Part {
  readonly endpoint: string;
  readonly handler: string | null;
  readonly code: string | null;
  readonly count: number;
  readonly oldest: number;
  readonly newest: number;
  readonly lastSeq: number;
  readonly firstSeq: number;
}

export async function readCauseGroups(
  core: Core,
  table: Table,
  { state, texts }: { readonly state: LostState; readonly texts: boolean },
): Promise<CauseGroups> {
  const asOf = core.clock.now();
  const found = new Map<string, Part>();
  let looked = 0;
  let before = Number.MAX_SAFE_INTEGER;
  while (looked < MOST_LOOKED) {
    const parts = await core.reader.all(partsBelow(table, state, before));
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    for (const part of parts) merge(found, part);
    looked += count;
    if (count < PIECE) break;
    before = Math.min(...parts.map(({ firstSeq }) => firstSeq));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const most = [...found.values()].toSorted((a, b) => b.count - a.count || b.lastSeq - a.lastSeq).slice(0, MOST_GROUPS);
  const groups: CauseGroup[] = [];
  for (const part of most) groups.push(await groupOf(core, table, { part, texts }));
  return { groups, looked, asOf: new Date(asOf).toISOString() };
}

const partsBelow = (table: Table, state: LostState, before: number) =>
  sql
    .selectFrom(
      sql
        .selectFrom(table as 'inbox') // both tables have the columns used here
        .select(['seq', 'endpoint', 'code', 'done_at', handlerOf(table).as('handler')])
        .where('state', '=', state as 'dead')
        .where(isUndecided(table))
        .where('seq', '<', before)
        .orderBy('seq', 'desc')
        .limit(PIECE)
        .as('piece'),
    )
    .select(['endpoint', 'handler', 'code'])
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.min<number>('done_at').as('oldest'),
      fn.max<number>('done_at').as('newest'),
      fn.max<number>('seq').as('lastSeq'),
      fn.min<number>('seq').as('firstSeq'),
    ])
    .groupBy(['endpoint', 'handler', 'code']);

function merge(found: Map<string, Part>, part: Part): void {
  const key = JSON.stringify([part.endpoint, part.handler, part.code]);
  const known = found.get(key);
  found.set(
    key,
    known === undefined
      ? part
      : {
          ...known,
          count: known.count + part.count,
          oldest: Math.min(known.oldest, part.oldest),
          newest: Math.max(known.newest, part.newest),
          lastSeq: Math.max(known.lastSeq, part.lastSeq),
        },
  );
}

async function groupOf(
  { reader }: Core,
  table: Table,
  { part, texts }: { readonly part: Part; readonly texts: boolean },
): Promise<CauseGroup> {
  const { endpoint, handler, code, count, oldest, newest, lastSeq } = part;
  const newestItem = sql
    .selectFrom(table as 'inbox')
    .select('id')
    .where('seq', '=', lastSeq);
  return {
    endpoint,
    handler: handler === null || texts ? handler : capabilityForDemo(handler),
    code: code ?? UNRECORDED,
    count,
    oldest: iso(oldest),
    newest: iso(newest),
    item: (await reader.first(newestItem))?.id ?? null,
  };
}
