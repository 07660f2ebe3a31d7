// What a replay of items changes in the ledger of jobs. Apart from the rest of this room: a host without jobs has replays too.
import { sql, statement } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';

/** A UUID. */
const RUN_ID_LENGTH = 36;

/**
 * Failed runs whose items are replayed go on. Their items name the run at the end of the delivery id, so that no scan of the ledger is needed.
 */
export const reopenRuns = (items: readonly string[]): Statement =>
  statement(
    sql
      .updateTable('job_runs')
      .set({ state: 'running', reason: null, done_at: null })
      .where('state', '=', 'failed')
      .where('item_id', 'in', items)
      .where('run_id', 'in', (eb) =>
        eb
          .selectFrom('inbox')
          .select(({ fn, val }) => fn<string>('substr', ['delivery_id', val(-RUN_ID_LENGTH)]).as('run_id'))
          .where('id', 'in', items)
          .where('delivery_id', 'like', 'job/%'),
      ),
  );
