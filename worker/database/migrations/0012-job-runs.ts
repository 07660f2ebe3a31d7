// The ledger of scheduled jobs, and totals of runs that outlive its rows.
import type { Migration } from './list.ts';

export const jobRuns: Migration = {
  id: 12,
  name: '0012-job-runs',
  breaking: false,
  statements: [
    `CREATE TABLE job_runs (
      run_id TEXT PRIMARY KEY, job TEXT NOT NULL, due INTEGER, "until" INTEGER, "count" INTEGER NOT NULL DEFAULT 1, state TEXT NOT NULL, reason TEXT,
      item_id TEXT, actor TEXT NOT NULL, late_ms INTEGER NOT NULL DEFAULT 0, started_at INTEGER NOT NULL, done_at INTEGER,
      UNIQUE (job, due)
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX job_runs_started ON job_runs (job, started_at)`,
    `CREATE INDEX job_runs_open ON job_runs (job) WHERE done_at IS NULL`,
    `CREATE INDEX job_runs_done ON job_runs (done_at) WHERE done_at IS NOT NULL`,
    `CREATE TABLE run_totals (
      kind TEXT NOT NULL, name TEXT NOT NULL, outcome TEXT NOT NULL, "count" INTEGER NOT NULL, last_at INTEGER NOT NULL,
      PRIMARY KEY (kind, name, outcome)
    ) STRICT, WITHOUT ROWID`,
  ],
};
