// Identity of the stored state, read once at the start: project, timeline (epoch), event positions.
//
//   PROJECT-STATE-1  A database file that is a copy, such as a restored backup, begins a new timeline. Otherwise it would give numbers that clients
//                    have seen to other events. Another file is detected by its birth time. A copy written over the file is detected if its history
//                    ends before the noted end. If the mark `<file>.known` was removed, an operator accepts the history as it is.
import { chmodSync, statSync } from 'node:fs';
import { type HistoryNote, isNewlyMarked, notedHistory } from '../../shared/files/lost-history.ts';
import { type Epoch, newEpoch, newProjectId, type ProjectId } from '../../shared/identifiers.ts';
import { goingOn, LINEAGE, lineageOf } from './lineage.ts';
import { sql, statement } from './statement.ts';
import type { Reader, Statement, Writer } from './unit.ts';

export interface ProjectState {
  readonly projectId: ProjectId;
  readonly epoch: Epoch;
  /** Highest and lowest event position. */
  readonly head: number;
  readonly oldest: number;
  readonly generation: number;
  /** The epoch is new (PROJECT-STATE-1). */
  readonly isCopy: boolean;
}

export interface FileFacts {
  /** Birth time of the file, as `birthOf` returns it. */
  readonly born?: string | undefined;
  /** The noted end of the history; null if the mark was removed. */
  readonly noted?: Pick<HistoryNote, 'epoch' | 'seq'> | null | undefined;
}

/** Creates project id and epoch at the very first start. */
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
      statements: [
        writeMeta('epoch', epoch),
        writeMeta(LINEAGE, JSON.stringify(goingOn(lineageOf(meta.get(LINEAGE)), { [stored]: head }))),
        ...(born === undefined ? [] : [writeMeta(BORN, born)]),
      ],
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

/** Birth time and noted end of a database file. */
export const fileFacts = (file: string): FileFacts => ({
  born: birthOf(file),
  noted: isNewlyMarked(file) ? null : notedHistory(file),
});

/** Birth time of the file. Undefined if the file system stores none: it reports 0, or the time of the last change. */
export function birthOf(file: string): string | undefined {
  try {
    const { birthtimeNs: born, ctimeNs: changed, mode } = statSync(file, { bigint: true });
    if (born === 0n) return undefined;
    if (born !== changed) return String(born);
    chmodSync(file, Number(mode) & 0o7777); // changes only the change time: a stored birth time then differs from it
    const after = statSync(file, { bigint: true });
    return after.birthtimeNs === born && after.ctimeNs !== born ? String(born) : undefined;
  } catch {
    return undefined; // not changeable by this user, or removed
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
