// Stores why an item is dead: a stable code, and the handler that failed. Before, only events told them, and events are kept for days.
import type { Migration } from './list.ts';

export const causes: Migration = {
  id: 11,
  name: '0011-causes',
  breaking: false,
  statements: [
    `ALTER TABLE inbox ADD COLUMN code TEXT`,
    `ALTER TABLE inbox ADD COLUMN failed_handler TEXT`,
    `ALTER TABLE outbox ADD COLUMN code TEXT`,
    `UPDATE inbox SET (code, failed_handler) = (
      SELECT 'handler_failed', handler FROM handler_runs WHERE item_id = inbox.id AND verdict = 'dead' LIMIT 1
    ) WHERE state = 'dead'`,
    `UPDATE outbox SET code = 'result_unknown' WHERE state = 'unknown'`,
  ],
};
