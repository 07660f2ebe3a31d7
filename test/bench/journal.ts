// The journal of the Workroom: appends with many events before them against few, and against raw inserts of the same size; a proof against
// a bare read. Commands go 64 at a time, as of a busy chat.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRuntimeId } from '../../shared/identifiers.ts';
import { noFailpoint } from '../../shared/process/failpoints.ts';
import { Sqlite } from '../../shared/sqlite.ts';
import { systemClock } from '../../shared/time/clock.ts';
import type { Core } from '../../worker/core/core.ts';
import { loadProjectState } from '../../worker/database/project-state.ts';
import { SqliteReader } from '../../worker/database/reader.ts';
import { openReadOnly } from '../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../worker/database/sqlite/writer-core.ts';
import type { Writer } from '../../worker/database/unit.ts';
import { GroupingWriter, inlineRunner } from '../../worker/database/writer.ts';
import type { WorkCommand } from '../../worker/workroom/board/commands.ts';
import { verifyDatabase } from '../../worker/workroom/journal/verify-database.ts';
import { Workroom } from '../../worker/workroom/workroom.ts';
import type { Report } from './load/report.ts';

const AT_ONCE = 64;
const FEW = 1_000;
const MEASURED = 4_000;
const MANY = 100_000;
const ITEMS = 500;
const HOUR_MS = 3_600_000;
const OPERATOR = { id: 'token:bench', member: undefined, isOperator: true };
const TEXT = 'a comment of some sixty characters, as people write them in a chat';

export async function benchJournal(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-journal-'));
  try {
    const { file, append, raw, close } = await openJournal(folder);
    await append(FEW);
    const few = await speed(() => append(MEASURED));
    const inserts = await speed(() => raw(MEASURED));
    await append(MANY);
    const many = await speed(() => append(MEASURED));
    const database = new Sqlite(file, { readonly: true });
    const total = Number(database.prepare('SELECT count(*) FROM workroom_events').pluck().get());
    const bare = seconds(() => {
      for (const row of database.prepare('SELECT * FROM workroom_events ORDER BY seq').iterate()) void row;
    });
    const proof = seconds(() => {
      const { faults } = verifyDatabase(database);
      if (faults.length > 0) throw new Error(JSON.stringify(faults[0]));
    });
    database.close();
    await close();
    report.add({
      name: `append of an event after ${total} others`,
      value: 1e6 / many,
      unit: 'us',
      baseline: { name: `after ${FEW}`, value: 1e6 / few },
      ratio: few / many,
      goal: { text: '<= 1.2', met: few / many <= 1.2 },
    });
    report.add({
      name: 'commands a second, 64 at a time',
      value: few,
      unit: '/s',
      baseline: { name: 'raw grouped inserts', value: inserts },
      ratio: few / inserts,
      goal: { text: '>= 0.4', met: few / inserts >= 0.4 },
    });
    report.add({
      name: `proof of ${total} events`,
      value: total / proof,
      unit: '/s',
      baseline: { name: 'bare read', value: total / bare },
      ratio: bare / proof,
      goal: { text: '>= 0.5', met: bare / proof >= 0.5 },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openJournal(folder: string) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'data.sqlite');
  const writerCore = new WriterCore({ file, now: Date.now });
  writerCore.open();
  const writer: Writer = new GroupingWriter(inlineRunner(writerCore));
  const reader = new SqliteReader(() => openReadOnly(file));
  const { projectId } = await loadProjectState(writer, reader);
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const core: Core = {
    runtimeId: newRuntimeId(),
    projectId,
    clock: systemClock,
    writer,
    reader,
    log,
    point: noFailpoint,
  };
  const settings = { stuckMs: 72 * HOUR_MS, remindMs: HOUR_MS, maxTextBytes: 16_384 };
  const workroom = new Workroom(core, () => settings, { due: () => {} });
  let commands = 0;
  const act = async (command: WorkCommand): Promise<void> => {
    commands += 1;
    const outcome = await workroom.do(command, { actor: OPERATOR, command: { id: `bench/${commands}`, cause: null } });
    if (outcome.kind === 'refused') throw new Error(outcome.reason);
  };
  await act({ kind: 'board.add', board: 'web', name: 'Web' });
  for (let n = 0; n < ITEMS; n += 1) await act({ kind: 'new', board: 'web', title: `Item ${n}` });
  await writer.commit({
    name: 'bench',
    statements: [
      { sql: 'CREATE TABLE bench_raw (seq INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT', parameters: [] },
    ],
  });
  let turn = 0;
  return {
    file,
    /** Sets the deadline of one item after the other, so that commands of a group do not meet on an item. */
    append: (count: number) =>
      sideBySide(count, () => {
        turn += 1;
        return act({ kind: 'due', item: `web-${1 + (turn % ITEMS)}`, due: turn });
      }),
    raw: (count: number) =>
      sideBySide(count, async () => {
        const statement = { sql: 'INSERT INTO bench_raw (data) VALUES (?)', parameters: [TEXT.repeat(6)] };
        await writer.commit({ name: 'bench', statements: [statement] });
      }),
    close: async () => {
      reader.close();
      writerCore.close();
    },
  };
}

async function sideBySide(count: number, act: () => Promise<void>): Promise<number> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await act();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return count;
}

async function speed(run: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  const count = await run();
  return (count * 1_000) / (performance.now() - startedAt);
}

function seconds(run: () => void): number {
  const startedAt = performance.now();
  run();
  return (performance.now() - startedAt) / 1_000;
}
