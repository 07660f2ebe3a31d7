// The due table: a row for each moment at which something must happen. A row is stored in the unit of the change that needs it.
import type { ExpressionBuilder, Selectable } from 'kysely';
import { prepared, sql, statement } from '../database/statement.ts';
import type { DueKind, Tables } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';

export type DueRow = Selectable<Tables['due']>;

export interface NewDue {
  /** A row with the same id is replaced: the newest wins. */
  readonly id: string;
  readonly kind: DueKind;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly capability: string | null;
  readonly lane: string | null;
  readonly data: string;
  /** A delay from now, not a time of day. Retries always are delays. */
  readonly isWait?: boolean;
}

const put = prepared<Omit<DueRow, 'seq'>>(({ id, kind, at, capability, lane, data, is_wait }) =>
  sql
    .insertInto('due')
    .values({ id, kind, at, capability, lane, data, is_wait })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ kind, at, capability, lane, data, is_wait })),
);

export const putDue = ({ isWait = false, ...row }: NewDue): Statement => put({ ...row, is_wait: isWait ? 1 : 0 });

const putNoLater = prepared<Omit<DueRow, 'seq'>>(({ id, kind, at, capability, lane, data, is_wait }) =>
  sql
    .insertInto('due')
    .values({ id, kind, at, capability, lane, data, is_wait })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ kind, at, capability, lane, data, is_wait }).where('due.at', '>', at),
    ),
);

/** As `putDue`, but a row that is due earlier stays. Its handler looks again at what is due, and puts the next one. */
export const putDueNoLater = ({ isWait = false, ...row }: NewDue): Statement =>
  putNoLater({ ...row, is_wait: isWait ? 1 : 0 });

/** The wall clock was set back by `byMs`. Rows due later than `after` count as stored before that. */
export interface SetBack {
  readonly byMs: number;
  readonly after: number;
}

/** A clock that was set back must not delay retries and waits. */
export const bringForward = ({ byMs, after }: SetBack): Statement =>
  statement(
    sql
      .updateTable('due')
      .set(({ eb }) => ({ at: eb('at', '-', byMs) }))
      .where('at', '>', after)
      .where(({ eb, or }) => or([eb('kind', 'in', ['inbox', 'outbox']), eb('is_wait', '=', 1)])),
  );

const remove = prepared<Pick<DueRow, 'id'>>(({ id }) => sql.deleteFrom('due').where('id', '=', id));

export const removeDue = (id: string): Statement => remove({ id });

/** Removes a due row exactly as it was read. Refuses the unit if the row changed meanwhile: the new row is due too. */
export const takeDue = prepared<Pick<DueRow, 'id' | 'at' | 'data'>>(
  ({ id, at, data }) => sql.deleteFrom('due').where('id', '=', id).where('at', '=', at).where('data', '=', data),
  { expect: 1, guard: 'due' },
);

interface DueOf {
  readonly except: Owners;
  /** Kinds that are left out. */
  readonly without: readonly DueKind[];
  /** Rows behind this one. */
  readonly after?: Pick<DueRow, 'at' | 'seq'> | undefined;
}
interface DueUntil extends DueOf {
  readonly until: number;
  readonly limit: number;
}
/** Plugins, as `root/<slot>`. */
type Owners = readonly string[];

export function readDue(reader: Reader, { until, limit, except, without, after }: DueUntil): Promise<DueRow[]> {
  let query = sql
    .selectFrom('due')
    .selectAll()
    .where('at', '<=', until)
    .where(isNoneOf(except))
    .where(isOtherThan(without));
  if (after !== undefined) query = query.where(isBehind(after));
  return reader.all(query.orderBy('at').orderBy('seq').limit(limit));
}

const isBehind =
  ({ at, seq }: Pick<DueRow, 'at' | 'seq'>) =>
  ({ eb, or, and }: ExpressionBuilder<Tables, 'due'>) =>
    or([eb('at', '>', at), and([eb('at', '=', at), eb('seq', '>', seq)])]);

export const readNextDue = (reader: Reader, { except, without }: DueOf): Promise<{ at: number } | undefined> =>
  reader.first(
    sql.selectFrom('due').select('at').where(isNoneOf(except)).where(isOtherThan(without)).orderBy('at').limit(1),
  );

interface DuePage {
  readonly after: { readonly at: number; readonly seq: number } | undefined;
  /** `root/<slot>`; undefined: all plugins. */
  readonly owner: string | undefined;
  readonly limit: number;
}

/** Tasks and the next times of cron handlers, the next one first. */
export function readDuePage(reader: Reader, { after, owner, limit }: DuePage): Promise<DueRow[]> {
  let query = sql.selectFrom('due').selectAll().where('kind', 'in', ['task', 'cron']);
  if (after !== undefined) query = query.where(isBehind(after));
  if (owner !== undefined) query = query.where('capability', '>=', `${owner}#`).where('capability', '<', `${owner}$`);
  return reader.all(query.orderBy('at').orderBy('seq').limit(limit));
}

export const readDueBySeq = (reader: Reader, seq: number): Promise<DueRow | undefined> =>
  reader.first(sql.selectFrom('due').selectAll().where('seq', '=', seq));

/** Rows of tasks whose ids are in a range, the next one first. */
export const readTasks = (
  reader: Reader,
  { from, to, limit }: { readonly from: string; readonly to: string; readonly limit: number },
): Promise<DueRow[]> =>
  reader.all(
    sql
      .selectFrom('due')
      .selectAll()
      .where('kind', '=', 'task')
      .where('id', '>=', from)
      .where('id', '<', to)
      .orderBy('at')
      .orderBy('seq')
      .limit(limit),
  );

/** The last wall clock time that an earlier process has stored. */
export const readLastSeen = (reader: Reader, runtimeId: string): Promise<{ at: number } | undefined> =>
  reader.first(
    sql.selectFrom('event_log').select('at').where('runtime_id', '!=', runtimeId).orderBy('seq', 'desc').limit(1),
  );

const isOtherThan =
  (kinds: readonly DueKind[]) =>
  ({ eb, and }: ExpressionBuilder<Tables, 'due'>) =>
    and(kinds.map((kind) => eb('kind', '!=', kind)));

/** Ids of capabilities are `<owner>#…`. The character after `#` is `$`, so the range excludes all of an owner. */
const isNoneOf =
  (owners: Owners) =>
  ({ eb, and, or }: ExpressionBuilder<Tables, 'due'>) =>
    and(
      owners.map((owner) =>
        or([eb('capability', 'is', null), eb('capability', '<', `${owner}#`), eb('capability', '>=', `${owner}$`)]),
      ),
    );
