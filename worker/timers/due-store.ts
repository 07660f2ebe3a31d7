// The due table: one row a moment at which something has to happen. Rows join the unit of what makes them necessary.
import type { ExpressionBuilder, Selectable } from 'kysely';
import { prepared, sql, statement } from '../database/statement.ts';
import type { DueKind, Tables } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';

export type DueRow = Selectable<Tables['due']>;

export interface NewDue {
  /** The same id again replaces what waits: the newest wins. */
  readonly id: string;
  readonly kind: DueKind;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly capability: string | null;
  readonly lane: string | null;
  readonly data: string;
  /** So long from now, and not at a time of day. Retries always are. */
  readonly isWait?: boolean;
}

const put = prepared<Omit<DueRow, 'seq'>>(({ id, kind, at, capability, lane, data, is_wait }) =>
  sql
    .insertInto('due')
    .values({ id, kind, at, capability, lane, data, is_wait })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ kind, at, capability, lane, data, is_wait })),
);

export const putDue = ({ isWait = false, ...row }: NewDue): Statement => put({ ...row, is_wait: isWait ? 1 : 0 });

/** The wall clock was set back: what is nearer to the time that it showed before than to the one that it shows was stored before. */
export interface SetBack {
  readonly byMs: number;
  readonly after: number;
}

/** Retries and waits are no later for it. */
export const bringForward = ({ byMs, after }: SetBack): Statement =>
  statement(
    sql
      .updateTable('due')
      .set(({ eb }) => ({ at: eb('at', '-', byMs) }))
      .where('at', '>', after)
      .where(({ eb, or }) => or([eb('kind', 'in', ['inbox', 'outbox']), eb('is_wait', '=', 1)])),
  );

export const removeDue = (id: string): Statement => statement(sql.deleteFrom('due').where('id', '=', id));

/** Takes a due row away exactly as it was read; refuses the unit when it changed meanwhile: what is new is due, too. */
export const takeDue = prepared<Pick<DueRow, 'id' | 'at' | 'data'>>(
  ({ id, at, data }) => sql.deleteFrom('due').where('id', '=', id).where('at', '=', at).where('data', '=', data),
  { expect: 1, guard: 'due' },
);

interface DueUntil {
  readonly until: number;
  readonly limit: number;
  readonly except: Owners;
  /** Kinds that are left where they are. */
  readonly without: readonly DueKind[];
}
/** Of plugins: `root/<slot>`. */
type Owners = readonly string[];

export const readDue = (reader: Reader, { until, limit, except, without }: DueUntil): Promise<DueRow[]> =>
  reader.all(
    sql
      .selectFrom('due')
      .selectAll()
      .where('at', '<=', until)
      .where(isNoneOf(except))
      .where(({ eb, and }) => and(without.map((kind) => eb('kind', '!=', kind))))
      .orderBy('at')
      .orderBy('seq')
      .limit(limit),
  );

export const readNextDue = (reader: Reader, except: Owners): Promise<{ at: number } | undefined> =>
  reader.first(sql.selectFrom('due').select('at').where(isNoneOf(except)).orderBy('at').limit(1));

/** What the wall clock showed last to the process before this one. */
export const readLastSeen = (reader: Reader, runtimeId: string): Promise<{ at: number } | undefined> =>
  reader.first(
    sql.selectFrom('event_log').select('at').where('runtime_id', '!=', runtimeId).orderBy('seq', 'desc').limit(1),
  );

/** Ids of capabilities are `<owner>#…`, and `$` is what comes after `#`. */
const isNoneOf =
  (owners: Owners) =>
  ({ eb, and, or }: ExpressionBuilder<Tables, 'due'>) =>
    and(
      owners.map((owner) =>
        or([eb('capability', 'is', null), eb('capability', '<', `${owner}#`), eb('capability', '>=', `${owner}$`)]),
      ),
    );
