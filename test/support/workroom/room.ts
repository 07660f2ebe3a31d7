// A Workroom over a real database file, its writer in this thread and its clock moved by the test.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { newRuntimeId } from '../../../shared/identifiers.ts';
import { noFailpoint } from '../../../shared/process/failpoints.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import type { Core } from '../../../worker/core/core.ts';
import { loadProjectState } from '../../../worker/database/project-state.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Writer } from '../../../worker/database/unit.ts';
import { GroupingWriter, inlineRunner } from '../../../worker/database/writer.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import type { WorkCommand } from '../../../worker/workroom/board/commands.ts';
import type { Actor } from '../../../worker/workroom/board/model.ts';
import type { Verified } from '../../../worker/workroom/journal/verify.ts';
import { verifyDatabase } from '../../../worker/workroom/journal/verify-database.ts';
import { type Outcome, Workroom, type WorkroomSettings } from '../../../worker/workroom/workroom.ts';
import { type Cleanup, temporaryProject } from '../temporary-project.ts';

export const HOUR_MS = 3_600_000;
export const SETTINGS: WorkroomSettings = { stuckMs: 72 * HOUR_MS, remindMs: 24 * HOUR_MS, maxTextBytes: 16_384 };
export const OPERATOR: Actor = { id: 'token:operator', member: undefined, isOperator: true };
export const person = (member: string): Actor => ({ id: `member:${member}`, member, isOperator: false });

export type Cut = 'before' | 'after';

export interface Room {
  readonly workroom: Workroom;
  readonly core: Core;
  readonly clock: ManualClock;
  readonly file: string;
  /** Times of due rows that the service told of. */
  readonly dues: readonly number[];
  do(actor: Actor, command: WorkCommand, id?: string): Promise<Outcome>;
  verify(): Verified;
}

/** `cut` says where the next commit loses its process: before it, or after it and before its answer. */
export async function openRoom(t: Cleanup, cut: () => Cut | undefined = () => undefined): Promise<Room> {
  const { path } = temporaryProject(t);
  const file = join(path, '.svc', 'data.sqlite');
  mkdirSync(join(path, '.svc'), { recursive: true });
  const clock = new ManualClock(Date.parse('2026-01-05T09:00:00Z'));
  const writerCore = new WriterCore({ file, now: () => clock.now() });
  writerCore.open();
  const grouping = new GroupingWriter(inlineRunner(writerCore));
  const writer: Writer = {
    onHead: (listener) => grouping.onHead(listener),
    async commit(unit) {
      const where = cut();
      if (where === 'before') throw new Error('cut before the commit');
      const answer = await grouping.commit(unit);
      if (where === 'after') throw new Error('cut after the commit');
      return answer;
    },
  };
  const reader = new SqliteReader(() => openReadOnly(file));
  t.after(() => {
    reader.close();
    writerCore.close();
  });
  const { projectId } = await loadProjectState(writer, reader);
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const core: Core = { runtimeId: newRuntimeId(), projectId, clock, writer, reader, log: silent, point: noFailpoint };
  const dues: number[] = [];
  const workroom = new Workroom(
    core,
    () => SETTINGS,
    (due) => dues.push(due),
  );
  let commands = 0;
  return {
    workroom,
    core,
    clock,
    file,
    dues,
    do: (actor, command, id = `test-${++commands}`) => workroom.do(command, { actor, command: { id, cause: null } }),
    verify: () => withFile(file, (database) => verifyDatabase(database)),
  };
}

/** A team on one board `web`: ann owns it, bob and cid work, eve reviews. */
export async function teamRoom(t: Cleanup, cut?: () => Cut | undefined): Promise<Room> {
  const room = await openRoom(t, cut);
  await room.do(OPERATOR, { kind: 'board.add', board: 'web', name: 'Web site' });
  const roles = { ann: 'owner', bob: 'worker', cid: 'worker', eve: 'reviewer' } as const;
  for (const [member, role] of Object.entries(roles)) {
    await room.do(OPERATOR, { kind: 'member.add', member });
    await room.do(OPERATOR, { kind: 'role.grant', board: 'web', member, role });
  }
  return room;
}

export function withFile<T>(file: string, use: (database: Database) => T): T {
  const database = new Sqlite(file);
  try {
    return use(database);
  } finally {
    database.close();
  }
}
