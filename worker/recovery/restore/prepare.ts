// Prepares the staged database: brought up to the schema of this svc, with what comes along, as a new timeline, paused. Then the switch is a rename.
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { newEpoch } from '../../../shared/identifiers.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { migrate } from '../../database/migrate.ts';
import { openWritable } from '../../database/sqlite/connection.ts';
import type { Statement } from '../../database/unit.ts';
import { pausedState } from '../../ingress/stored-pause.ts';
import { withoutCarry } from './carry.ts';
import { type Compared, carryNumbers, compareStates } from './compare-states.ts';
import { writeLineage } from './lineage.ts';
import { type State, stateOf } from './state-reader.ts';

export interface PrepareOptions {
  /** The staged database. */
  readonly file: string;
  /** The state that is replaced; undefined if there is none, or it cannot be read. */
  readonly replaced: State | undefined;
  readonly carry: boolean;
  /** What happens to open items where nothing comes along. */
  readonly open: 'handle' | 'drop';
  readonly now: number;
  readonly entry: {
    readonly purpose: 'restore' | 'undo';
    readonly source: string;
    readonly sourceId: string;
    readonly replaced: string;
    readonly lost: number;
  };
}

/** Returns what came along; undefined without carry. Throws what SQLite throws: then the staged database is worth nothing. */
export function prepareDatabase(options: PrepareOptions): Compared | undefined {
  const { file, now } = options;
  const database = openWritable(file);
  let compared: Compared | undefined;
  try {
    migrate(database, now);
    database.exec('BEGIN IMMEDIATE');
    compared = changeState(database, options);
    database.exec('COMMIT');
    database.pragma('journal_mode = DELETE'); // one file; a start turns the WAL on again
  } finally {
    database.close();
  }
  syncFile(file);
  return compared;
}

/** In the transaction of the caller. */
export function changeState(database: Database, options: Omit<PrepareOptions, 'file'>): Compared | undefined {
  const { replaced, carry, open, now, entry } = options;
  const apply = applier(database);
  const kept = stateOf(database);
  let compared: Compared | undefined;
  if (replaced !== undefined && carry) {
    carryNumbers({ replaced, kept, at: now, apply });
    compared = compareStates({ replaced, kept, at: now, apply });
  } else {
    if (replaced !== undefined) carryNumbers({ replaced, kept, at: now, apply });
    withoutCarry(open, now).forEach(apply);
  }
  const reason = `${entry.purpose} of ${entry.source}`;
  for (const statement of pausedState({ at: now, by: 'restore', reason })) apply(statement);
  apply(writeLineage(kept, carry ? replaced : undefined));
  apply({ sql: "DELETE FROM meta WHERE key = 'file_born'", parameters: [] });
  apply({
    sql: "INSERT INTO meta (key, value) VALUES ('epoch', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    parameters: [newEpoch()],
  });
  apply({
    sql: 'INSERT INTO restores (replaced, at, purpose, source, source_id, lost, carried) VALUES (?, ?, ?, ?, ?, ?, ?)',
    parameters: [entry.replaced, now, entry.purpose, entry.source, entry.sourceId, entry.lost, carriedOf(compared)],
  });
  return compared;
}

/** Items and sends that came along. */
export const carriedOf = (compared: Compared | undefined): number =>
  compared === undefined
    ? 0
    : compared.ids + compared.received + compared.endedItems + compared.endedSends + compared.waitingSends;

/** Runs statements on the staged database; each text is compiled once. */
function applier(database: Database): (statement: Statement) => void {
  const compiled = new Map<string, ReturnType<Database['prepare']>>();
  return ({ sql, parameters }) => {
    const known = compiled.get(sql) ?? database.prepare(sql);
    compiled.set(sql, known);
    known.run(...parameters);
  };
}

function syncFile(file: string): void {
  const handle = openSync(file, 'r+');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
