// Reads the end of the history in a database: epoch, number and time of the last event. Used by the writer and by `svc doctor`.

import type { Database } from '../sqlite.ts';
import type { HistoryEnd } from './lost-history.ts';

const END = `SELECT (SELECT value FROM meta WHERE key = 'epoch') AS epoch, (SELECT value FROM counters WHERE name = 'event') AS seq,
  (SELECT at FROM event_log ORDER BY seq DESC LIMIT 1) AS at`;
const TABLES = "SELECT count(*) FROM sqlite_master WHERE name IN ('meta', 'counters', 'event_log')";
const TABLES_READ = 3;

export function readHistoryEnd(database: Database): HistoryEnd {
  const nothing = { epoch: undefined, seq: 0, at: undefined };
  if (database.prepare(TABLES).pluck().get() !== TABLES_READ) return nothing;
  const { epoch, seq, at } = database.prepare(END).get() as Record<'epoch' | 'seq' | 'at', string | number | null>;
  return {
    epoch: epoch === null ? undefined : String(epoch),
    seq: Number(seq),
    at: at === null ? undefined : Number(at),
  };
}
