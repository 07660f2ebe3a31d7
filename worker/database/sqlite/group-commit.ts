// Runs a group of units in one transaction and answers after its COMMIT. Synchronous: the writer thread and the inline writer share it.
//
//   GROUP-COMMIT-1  A refused unit does not affect the other units. Refusals are rare, and a savepoint copies every page that its unit changes. So a
//                   group runs without savepoints. After a refusal the group is rolled back and runs again with a savepoint for each unit. The next
//                   group then begins with savepoints.
//   GROUP-COMMIT-2  If the storage itself fails, the whole group is rolled back and no unit is answered `committed`.
//   GROUP-COMMIT-3  After a failed COMMIT the connection is not used again. Its page cache may hold pages that the disk lacks.
import type { Database, Statement as SqliteStatement } from 'better-sqlite3';
import type { Row, Statement, Unit, UnitAnswer } from '../unit.ts';
import { sqliteCode } from './connection.ts';

export interface GroupAnswer {
  readonly answers: readonly UnitAnswer[];
  readonly head: number;
  /** The WAL had been removed or altered, and its content is safe again. */
  readonly isLogMended?: boolean;
  /** The WAL grew beyond the limit of its pin: checkpoints run again. */
  readonly isPinBroken?: boolean;
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
  /** The last group had a refused unit. */
  #expectsRefusals = false;

  constructor(database: Database, beforeCommit: () => void = () => {}) {
    this.#database = database;
    this.#beforeCommit = beforeCommit;
    this.#head = database.prepare("SELECT value FROM counters WHERE name = 'event'").pluck();
  }

  /** Throws if the group could not be committed; then nothing of the group is stored. */
  run(units: readonly Unit[]): GroupAnswer {
    try {
      const answers = this.#runAll(units);
      const head = Number(this.#head.get());
      this.#beforeCommit();
      this.#exec('COMMIT');
      return { answers: answers.map((answer) => withHead(answer, head)), head };
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Runs without savepoints, and after a refusal again with them (GROUP-COMMIT-1). */
  #runAll(units: readonly Unit[]): readonly UnitAnswer[] {
    this.#exec('BEGIN IMMEDIATE');
    if (!this.#expectsRefusals) {
      try {
        return units.map((unit) => this.#runPlain(unit));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.#rollBack();
        this.#exec('BEGIN IMMEDIATE');
      }
    }
    const answers = units.map((unit) => this.#runApart(unit));
    this.#expectsRefusals = answers.some(({ kind }) => kind === 'refused');
    return answers;
  }

  #rollBack(): void {
    if (this.#database.inTransaction) this.#exec('ROLLBACK');
  }

  #runPlain({ fence, statements }: Unit): UnitAnswer {
    if (fence !== undefined) this.#runStatement(fence);
    return { kind: 'committed', rows: statements.map((statement) => this.#runStatement(statement)), head: 0 };
  }

  #runApart(unit: Unit): UnitAnswer {
    this.#exec('SAVEPOINT unit');
    try {
      const answer = this.#runPlain(unit);
      this.#exec('RELEASE unit');
      return answer;
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
      return NO_ROWS;
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

const NO_ROWS: readonly Row[] = [];

/** Written out: Node 20 makes a hidden class for each `{ ...answer, head }`. */
const withHead = (answer: UnitAnswer, head: number): UnitAnswer =>
  answer.kind === 'committed' ? { kind: 'committed', rows: answer.rows, head } : answer;

/** These errors of the storage fail the group. Any other error refuses its unit alone. */
const STORAGE_FAULT = /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|BUSY|LOCKED|NOMEM|PROTOCOL)/;

function refusalOf(statement: Statement, error: unknown): unknown {
  if (error instanceof Refused) return error;
  const code = sqliteCode(error);
  if (code !== undefined && STORAGE_FAULT.test(code)) return error;
  const unique = code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
  const detail = error instanceof Error ? error.message : String(error);
  return new Refused({ kind: 'refused', reason: unique ? 'unique' : 'constraint', guard: statement.guard, detail });
}
