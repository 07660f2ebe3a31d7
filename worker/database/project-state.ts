// Who this state belongs to, read once at the start: project, timeline, positions.
//
//   P1  A file that is a copy (a backup that was put back) begins a timeline of its own: it gives numbers of events that clients have seen to
//       others. A new file is told by when it was made, one that was written over in place by a history that ends before what was noted of it, and one
//       that somebody takes as it is by its mark, which is gone (shared/files/lost-history.ts).
import { chmodSync, statSync } from 'node:fs';
import { type HistoryNote, isNewlyMarked, notedHistory } from '../../shared/files/lost-history.ts';
import { type Epoch, newEpoch, newProjectId, type ProjectId } from '../../shared/identifiers.ts';
import { sql, statement } from './statement.ts';
import type { Reader, Statement, Writer } from './unit.ts';

export interface ProjectState {
  readonly projectId: ProjectId;
  readonly epoch: Epoch;
  /** Highest and lowest event position. */
  readonly head: number;
  readonly oldest: number;
  readonly generation: number;
  /** P1: the epoch is new. */
  readonly isCopy: boolean;
}

export interface FileFacts {
  /** Its `birthOf`. */
  readonly born?: string | undefined;
  /** What was noted of it; null where its mark was gone. */
  readonly noted?: Pick<HistoryNote, 'epoch' | 'seq'> | null | undefined;
}

/** Makes project id and epoch at the very first start. */
export async function loadProjectState(
  writer: Writer,
  reader: Reader,
  { born, noted }: FileFacts = {},
): Promise<ProjectState> {
  const make = (key: string, value: string): Statement =>
    statement(
      sql
        .insertInto('meta')
        .values({ key, value })
        .onConflict((conflict) => conflict.column('key').doNothing()),
    );
  const first = newEpoch();
  const answer = await writer.commit({
    name: 'project.identity',
    statements: [
      make('project_id', newProjectId()),
      make('epoch', first),
      ...(born === undefined ? [] : [make(BORN, born)]),
    ],
  });
  if (answer.kind === 'refused') throw new Error(answer.detail);
  const meta = new Map((await reader.all(sql.selectFrom('meta').selectAll())).map((row) => [row.key, row.value]));
  const counters = new Map(
    (await reader.all(sql.selectFrom('counters').selectAll())).map((row) => [row.name, Number(row.value)]),
  );
  const head = counters.get('event') ?? 0;
  const stored = (meta.get('epoch') ?? '') as Epoch;
  const isOther = born !== undefined && meta.get(BORN) !== born;
  const isTaken = noted === null && stored !== first;
  const isCopy = isOther || isTaken || (noted?.epoch === stored && head < noted.seq);
  const epoch = isCopy ? newEpoch() : stored;
  if (isCopy)
    await writer.commit({
      name: 'project.file',
      statements: [writeMeta('epoch', epoch), ...(born === undefined ? [] : [writeMeta(BORN, born)])],
    });
  return {
    projectId: (meta.get('project_id') ?? '') as ProjectId,
    epoch,
    head,
    oldest: counters.get('event_oldest') ?? 1,
    generation: counters.get('generation') ?? 0,
    isCopy,
  };
}

const BORN = 'file_born';

/** What its file system and its mark say of it. */
export const fileFacts = (file: string): FileFacts => ({
  born: birthOf(file),
  noted: isNewlyMarked(file) ? null : notedHistory(file),
});

/** When the file was made; undefined where its file system does not keep that (it is nought then, or the time of the last change). */
export function birthOf(file: string): string | undefined {
  try {
    const { birthtimeNs: born, ctimeNs: changed, mode } = statSync(file, { bigint: true });
    if (born === 0n) return undefined;
    if (born !== changed) return String(born);
    chmodSync(file, Number(mode) & 0o7777); // it was copied a moment ago, or nobody knows: a change that changes nothing tells
    const after = statSync(file, { bigint: true });
    return after.birthtimeNs === born && after.ctimeNs !== born ? String(born) : undefined;
  } catch {
    return undefined; // not ours to change, or gone again
  }
}

export const readMeta = async (reader: Reader, key: string): Promise<string | undefined> =>
  (await reader.first(sql.selectFrom('meta').select('value').where('key', '=', key)))?.value;

export const writeMeta = (key: string, value: string): Statement =>
  statement(
    sql
      .insertInto('meta')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value })),
  );
