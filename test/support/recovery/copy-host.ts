// A database with its writer thread as a host has it, under a load whose every unit changes three tables together; and copies of it.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newRuntimeId } from '../../../shared/identifiers.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { type Clock, systemClock } from '../../../shared/time/clock.ts';
import { DatabaseHost, threadRunner } from '../../../worker/database/database-host.ts';
import { loadProjectState } from '../../../worker/database/project-state.ts';
import type { Statement, Unit } from '../../../worker/database/unit.ts';
import { recordEvents } from '../../../worker/events/event-history.ts';
import type { DatabaseCopy } from '../../../worker/recovery/checkpoint/copy-database.ts';
import { type Cleanup, temporaryProject } from '../temporary-project.ts';

const RUNTIME = newRuntimeId();
const statement = (sql: string, ...parameters: unknown[]): Statement => ({ sql, parameters });

/** An event, a counter and the run of a job, in one unit. */
const unitOf = (n: number, text: string): Unit => ({
  name: 'load',
  statements: [
    statement("UPDATE counters SET value = value + 1 WHERE name = 'load'"),
    statement(
      'INSERT INTO job_runs (run_id, job, due, state, reason, actor, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      `run-${n}`,
      'load',
      n,
      'running',
      text,
      'test',
      n,
    ),
    ...recordEvents([
      {
        type: 'ingress.paused',
        at: n,
        runtimeId: RUNTIME,
        data: { mode: 'park', reason: null, until: null },
      },
    ]),
  ],
});

export interface CopyHost {
  readonly file: string;
  readonly folder: string;
  readonly host: DatabaseHost;
  /** Units that were answered as committed. */
  readonly committed: () => number;
  /** Commits one unit; `bytes` of text make the log longer. */
  put(bytes?: number): Promise<void>;
  /** Commits units without a pause, some at a time, until it is called. */
  load(atOnce?: number): () => Promise<void>;
  /** The counter of the load as the parent reads it now. */
  position(): number;
}

export async function copyHost(t: Cleanup, clock: Clock = systemClock): Promise<CopyHost> {
  const folder = join(temporaryProject(t).path, '.svc');
  const file = join(folder, 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  const host = new DatabaseHost({
    file,
    clock,
    makeRunner: threadRunner({ file, failpoints: undefined }),
    onState: () => {},
  });
  const ended = new AbortController();
  t.after(() => {
    ended.abort();
    return host.close();
  });
  await host.open();
  await loadProjectState(host, host.reader);
  await host.commit({ name: 'load', statements: [statement("INSERT INTO counters (name, value) VALUES ('load', 0)")] });
  let asked = 0;
  let committed = 0;
  const put = async (bytes = 200): Promise<void> => {
    asked += 1;
    const answer = await host.commit(unitOf(asked, 'x'.repeat(bytes)));
    if (answer.kind === 'refused') throw new Error(answer.detail);
    committed += 1;
  };
  return {
    file,
    folder,
    host,
    committed: () => committed,
    put,
    load(atOnce = 8) {
      const over = new AbortController();
      const lane = async (): Promise<void> => {
        while (!over.signal.aborted && !ended.signal.aborted) await put();
      };
      const lanes = Promise.all(Array.from({ length: atOnce }, lane));
      return async () => {
        over.abort();
        await lanes;
      };
    },
    position: () =>
      Number(host.reader.run<{ value: number }>("SELECT value FROM counters WHERE name = 'load'")[0]?.value),
  };
}

/** What of a copy is not of the moment at which the parent read `position`; empty if it is whole. */
export function faultsOf(
  target: string,
  { copy, position }: { readonly copy: DatabaseCopy; readonly position: number },
): string[] {
  const database = new Sqlite(target, { readonly: true, fileMustExist: true });
  try {
    const one = (sql: string): number => Number(database.prepare(sql).pluck().get());
    const found = {
      'counter of the load': one("SELECT value FROM counters WHERE name = 'load'"),
      'runs of jobs': one('SELECT count(*) FROM job_runs'),
      'last run of a job': one('SELECT max(due) FROM job_runs'),
      events: one('SELECT count(*) FROM event_log'),
      'last event': one('SELECT max(seq) FROM event_log'),
      'counter of events': one("SELECT value FROM counters WHERE name = 'event'"),
      'reported head': copy.events.head,
    };
    return Object.entries(found).flatMap(([what, value]) =>
      value === position ? [] : [`${what}: ${value}, of the moment: ${position}`],
    );
  } finally {
    database.close();
  }
}
