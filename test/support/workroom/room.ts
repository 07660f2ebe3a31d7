// A Workroom over a real database file, its writer in this thread and its clock moved by the test.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectPaths } from '../../../shared/files/paths.ts';
import { newRuntimeId, type ProjectId } from '../../../shared/identifiers.ts';
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
import type { Journal, JournalStore } from '../../../worker/workroom/journal/journal.ts';
import type { Verified } from '../../../worker/workroom/journal/verify.ts';
import { type FilesBeside, verifyDatabase } from '../../../worker/workroom/journal/verify-database.ts';
import { adoptProject, openJournal } from '../../../worker/workroom/open-journal.ts';
import { type Outcome, Workroom, type WorkroomSettings } from '../../../worker/workroom/workroom.ts';
import { type Cleanup, temporaryProject } from '../temporary-project.ts';

export const HOUR_MS = 3_600_000;
export const SETTINGS: WorkroomSettings = { stuckMs: 72 * HOUR_MS, remindMs: 24 * HOUR_MS, maxTextBytes: 16_384 };
export const OPERATOR: Actor = { id: 'token:operator', member: undefined, isOperator: true };
export const person = (member: string): Actor => ({ id: `member:${member}`, member, isOperator: false });

export type Cut = 'before' | 'after';
export const STORES: readonly JournalStore[] = ['database', 'file'];

export interface Room {
  readonly workroom: Workroom;
  readonly core: Core;
  readonly clock: ManualClock;
  readonly file: string;
  /** Segments and catalog of the file store. */
  readonly files: FilesBeside;
  readonly journal: Journal;
  /** Times of due rows that the service told of. */
  readonly dues: readonly number[];
  do(actor: Actor, command: WorkCommand, id?: string): Promise<Outcome>;
  verify(): Verified;
  /** As a stop of the host does. */
  close(): Promise<void>;
  /** Lets go of the files in the middle of what is under way. */
  kill(): void;
}

export interface RoomOptions {
  readonly cut?: (() => Cut | undefined) | undefined;
  readonly store?: JournalStore;
  /** The project of an earlier room: opened again. */
  readonly path?: string;
  readonly sealedBytes?: number;
  readonly point?: Core['point'];
  /** Default: `SETTINGS`. */
  readonly settings?: () => WorkroomSettings;
}

/** `cut` says where the next commit loses its process: before it, or after it and before its answer. */
export async function openRoom(t: Cleanup, options: RoomOptions = {}): Promise<Room> {
  const {
    cut = () => undefined,
    store = 'database',
    point = noFailpoint,
    sealedBytes,
    settings = () => SETTINGS,
  } = options;
  const path = options.path ?? temporaryProject(t).path;
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
  const { workroomJournal: folder, workroomCatalog: catalogFile } = projectPaths(path);
  const files = { folder, catalogFile, isLive: true };
  const known = await loadProjectState(writer, reader);
  const projectId = ((await adoptProject({ reader, writer }, folder, known.projectId)) ?? known.projectId) as ProjectId;
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const core: Core = { runtimeId: newRuntimeId(), projectId, clock, writer, reader, log: silent, point };
  const sealed = sealedBytes === undefined ? {} : { sealedBytes };
  const journal = await openJournal({ core, store, folder, catalogFile, reminding: settings(), ...sealed });
  let closed: Promise<void> | undefined;
  const kill = (): void => {
    closed ??= Promise.resolve();
    reader.close();
    writerCore.close();
  };
  const close = (): Promise<void> => {
    closed ??= journal.stop().finally(kill);
    return closed;
  };
  t.after(() => close().catch(() => {})); // tests end with damaged journals too
  const dues: number[] = [];
  const workroom = new Workroom(core, settings, { due: (at) => dues.push(at), journal });
  let commands = 0;
  const ids = core.runtimeId;
  return {
    workroom,
    core,
    clock,
    file,
    files,
    journal,
    dues,
    do: (actor, command, id = `${ids}-${++commands}`) => workroom.do(command, { actor, command: { id, cause: null } }),
    verify: () => withFile(file, (database) => verifyDatabase(database, undefined, files)),
    close,
    kill,
  };
}

/** A team on one board `web`: ann owns it, bob and cid work, eve reviews. */
export async function teamRoom(t: Cleanup, options?: RoomOptions): Promise<Room> {
  const room = await openRoom(t, options);
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
