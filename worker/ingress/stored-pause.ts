// The stored state of ingress: one row of `meta`, and one row of the due table for the end of a pause.
import type { IngressState } from '../../shared/api/runtime.ts';
import { isOpen } from '../database/open-rows.ts';
import { readMeta, writeMeta } from '../database/project-state.ts';
import { sql } from '../database/statement.ts';
import type { Reader, Statement } from '../database/unit.ts';
import { putDue, removeDue } from '../timers/due-store.ts';

const KEY = 'ingress';
const DUE_ID = 'ingress/until';

export const OPEN: IngressState = { state: 'open', mode: 'park', reason: null, until: null, since: null, by: null };

/** Open if nothing is stored. */
export async function readIngress(reader: Reader): Promise<IngressState> {
  const stored = await readMeta(reader, KEY);
  if (stored === undefined) return OPEN;
  const { state, mode, reason, until, since, by } = JSON.parse(stored) as IngressState;
  return { state, mode, reason, until, since, by };
}

/** `withEnd` false: the caller takes the due row of the former end itself. */
export function writeIngress(next: IngressState, { withEnd = true } = {}): readonly Statement[] {
  const row = writeMeta(KEY, JSON.stringify(next));
  if (!withEnd) return [row];
  return [row, next.until === null ? removeDue(DUE_ID) : dueAt(Date.parse(next.until))];
}

const dueAt = (at: number): Statement =>
  putDue({ id: DUE_ID, kind: 'ingress', at, capability: null, lane: null, data: '{}' });

export interface PausedBy {
  readonly at: number;
  readonly by: string;
  readonly reason: string;
}

/** Statements that pause a database in mode `park`, without an end: the next start begins nothing until `svc ingress resume`. */
export const pausedState = ({ at, by, reason }: PausedBy): readonly Statement[] =>
  writeIngress({ state: 'paused', mode: 'park', reason, until: null, since: new Date(at).toISOString(), by });

/** Number of items that have not ended. */
export async function countOpen(reader: Reader): Promise<number> {
  const row = await reader.first(
    sql
      .selectFrom('inbox')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where(isOpen),
  );
  return Number(row?.n ?? 0);
}
