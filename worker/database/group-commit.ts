// Runs a group of units in one transaction and answers after its COMMIT. Synchronous: the writer thread and the inline writer share it.
//
//   C1  Each unit has its own savepoint: a refused one takes nothing else with it.
//   C2  When the storage itself fails, the whole group is taken back and nobody is answered `committed`.
//   C3  After a failed COMMIT the connection is not used again: its page cache may hold what the disk does not.
import type { Database, Statement as SqliteStatement } from 'better-sqlite3';
import { sqliteCode } from './connection.ts';
import type { Row, Statement, Unit, UnitAnswer } from './unit.ts';

export interface GroupAnswer {
  readonly answers: readonly UnitAnswer[];
  readonly head: number;
}

class Refused extends Error {
  readonly answer: Extract<UnitAnswer, { kind: 'refused' }>;
  constructor(answer: Extract<UnitAnswer, { kind: 'refused' }>) {
    super(answer.detail);
    this.answer = answer;
  }
}

export class GroupCommit {
  readonly #database: Database;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #beforeCommit: () => void;
  readonly #head: SqliteStatement;

  constructor(database: Database, beforeCommit: () => void = () => {}) {
    this.#database = database;
    this.#beforeCommit = beforeCommit;
    this.#head = database.prepare("SELECT value FROM counters WHERE name = 'event'").pluck();
  }

  /** Throws when the group could not be committed; then nothing of it is stored. */
  run(units: readonly Unit[]): GroupAnswer {
    this.#exec('BEGIN IMMEDIATE');
    try {
      const answers = units.map((unit) => this.#runUnit(unit));
      const head = Number(this.#head.get());
      this.#beforeCommit();
      this.#exec('COMMIT');
      return { answers: answers.map((answer) => (answer.kind === 'committed' ? { ...answer, head } : answer)), head };
    } catch (error) {
      if (this.#database.inTransaction) this.#exec('ROLLBACK');
      throw error;
    }
  }

  #runUnit(unit: Unit): UnitAnswer {
    this.#exec('SAVEPOINT unit');
    try {
      const rows = unit.statements.map((statement) => this.#runStatement(statement));
      this.#exec('RELEASE unit');
      return { kind: 'committed', rows, head: 0 };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#exec('ROLLBACK TO unit');
      this.#exec('RELEASE unit');
      return error.answer;
    }
  }

  #runStatement(statement: Statement): readonly Row[] {
    try {
      const prepared = this.#prepare(statement.sql);
      if (prepared.reader) {
        const rows = prepared.all(...statement.parameters) as Row[];
        this.#expect(statement, rows.length);
        return rows;
      }
      this.#expect(statement, prepared.run(...statement.parameters).changes);
      return [];
    } catch (error) {
      throw refusalOf(statement, error);
    }
  }

  #expect(statement: Statement, changed: number): void {
    if (statement.expect === undefined || statement.expect === changed) return;
    const detail = `${statement.guard ?? 'guard'}: ${changed} rows instead of ${statement.expect}`;
    throw new Refused({ kind: 'refused', reason: 'guard', guard: statement.guard, detail });
  }

  #prepare(text: string): SqliteStatement {
    let known = this.#statements.get(text);
    if (known === undefined) {
      known = this.#database.prepare(text);
      this.#statements.set(text, known);
    }
    return known;
  }

  #exec(text: string): void {
    this.#prepare(text).run();
  }
}

/** What the storage itself could not do ends the group; anything else is the unit's own fault and refuses it alone. */
const STORAGE_FAULT = /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|BUSY|LOCKED|NOMEM|PROTOCOL)/;

function refusalOf(statement: Statement, error: unknown): unknown {
  if (error instanceof Refused) return error;
  const code = sqliteCode(error);
  if (code !== undefined && STORAGE_FAULT.test(code)) return error;
  const unique = code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
  const detail = error instanceof Error ? error.message : String(error);
  return new Refused({ kind: 'refused', reason: unique ? 'unique' : 'constraint', guard: statement.guard, detail });
}
