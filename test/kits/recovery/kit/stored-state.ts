// What lies in the files of a stopped project, read from a copy: nothing here may mend or touch them.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProjectPaths } from '../../../../shared/files/paths.ts';
import { Sqlite } from '../../../../shared/sqlite.ts';

export interface StoredState {
  /** What SQLite finds; `ok` for a whole database. */
  readonly integrity: string;
  readonly epoch: string;
  /** The last event, by the counter and by the log. */
  readonly head: number;
  readonly lastEvent: number;
  /** State of each delivery of the platform by its id; `twice` where two items have it. */
  readonly deliveries: Readonly<Record<string, string>>;
  /** Sends by state. */
  readonly sends: Readonly<Record<string, number>>;
  /** Runs of jobs that began. */
  readonly jobRuns: number;
  readonly restores: readonly { readonly source: string; readonly purpose: string }[];
  /** Revision of the jobs file. */
  readonly revision: number;
}

export function readState({ database, dataDir }: Pick<ProjectPaths, 'database' | 'dataDir'>): StoredState {
  const folder = mkdtempSync(join(tmpdir(), 'svc-state-'));
  try {
    const copy = join(folder, 'data.sqlite');
    for (const suffix of ['', '-wal'])
      if (existsSync(`${database}${suffix}`)) cpSync(`${database}${suffix}`, `${copy}${suffix}`);
    const { revision } = JSON.parse(readFileSync(join(dataDir, 'schedule-jobs.json'), 'utf8')) as { revision: number };
    return { ...readDatabase(copy), revision };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readDatabase(file: string): Omit<StoredState, 'revision'> {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    const one = (text: string): unknown => database.prepare(text).pluck().get();
    const all = <T>(text: string): T[] => database.prepare(text).all() as T[];
    const deliveries: Record<string, string> = {};
    for (const { id, state } of all<{ id: string; state: string }>(
      "SELECT delivery_id AS id, state FROM inbox WHERE endpoint LIKE '%webhook:%' ORDER BY seq",
    ))
      deliveries[id] = id in deliveries ? 'twice' : state;
    return {
      integrity: String(one('PRAGMA integrity_check')),
      epoch: String(one("SELECT value FROM meta WHERE key = 'epoch'")),
      head: Number(one("SELECT value FROM counters WHERE name = 'event'")),
      lastEvent: Number(one('SELECT max(seq) FROM event_log')),
      deliveries,
      sends: Object.fromEntries(
        all<{ state: string; count: number }>('SELECT state, count(*) AS count FROM outbox GROUP BY state').map(
          ({ state, count }) => [state, count],
        ),
      ),
      jobRuns: Number(one("SELECT count(*) FROM job_runs WHERE state NOT IN ('missed', 'skipped')")),
      restores: all('SELECT source, purpose FROM restores ORDER BY at'),
    };
  } finally {
    database.close();
  }
}

/** Equal in everything that an operation must leave alone. */
export const isSame = (one: StoredState, other: StoredState): boolean => JSON.stringify(one) === JSON.stringify(other);
