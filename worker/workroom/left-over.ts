// What a conversion that was killed has left in the store that the journal is not in. Words that are erased since would stay there.
//
//   LEFT-OVER-1  Only what the journal has too is removed: the last event that was left has the number and the hash of one of the journal. Anything
//                else may be the only copy of something. It stays, and is refused by name.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../shared/files/atomic-file.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, commitOrThrow } from '../core/core.ts';
import { sql, statement } from '../database/statement.ts';
import { listSegments, lookAt } from './files/segments.ts';
import { hashBeforeFirst } from './journal/chain.ts';
import type { JournalSource } from './journal/journal.ts';
import { type JournalPlace, KEEP_ROWS, LET_ROWS_GO } from './open-journal.ts';
import type { Head } from './read-catalog.ts';

const SLICE = 2_000;

export interface LeftOverPlace extends JournalPlace {
  readonly core: Pick<Core, 'reader' | 'writer' | 'projectId'>;
}

/** Returns whether there was anything. Throws `refused` (LEFT-OVER-1). */
export const removeLeftOver = (place: LeftOverPlace, journal: JournalSource): Promise<boolean> =>
  journal.store === 'database' ? removeFiles(place, journal) : removeRows(place, journal);

async function removeFiles({ core, folder, catalogFile }: LeftOverPlace, journal: JournalSource): Promise<boolean> {
  const left = [`${folder}.part`, catalogFile, folder].filter((path) => existsSync(path));
  if (left.length === 0) return false;
  const last = lastIn(folder);
  if (last === undefined || !(await has(journal, core, last)))
    throw new SvcError('refused', `${folder} is not the journal of this Workroom, which is in the database`, {
      hint: `the folder is expected to be gone, or to hold what a killed \`svc workroom convert\` left: events that the database has too. See what it is, move it out of the project, then run the command again`,
    });
  for (const path of left) await rm(path, { recursive: true, force: true });
  syncFolder(dirname(folder));
  return true;
}

/** Number and hash of the last event; undefined if the files do not hold up to their end. */
function lastIn(folder: string): Head | undefined {
  const segment = listSegments(folder).at(-1);
  if (segment === undefined) return { seq: 0, hash: '' };
  const { header, placed, end, content } = lookAt(segment);
  if (header === undefined || end < content.length) return undefined;
  const event = placed.at(-1)?.event;
  return { seq: event?.seq ?? segment.first - 1, hash: event?.hash ?? header.prev };
}

async function removeRows({ core }: LeftOverPlace, journal: JournalSource): Promise<boolean> {
  const rows = sql.selectFrom('workroom_events').select(['seq', 'hash']);
  const last = await core.reader.first(rows.orderBy('seq', 'desc').limit(1));
  const first = await core.reader.first(rows.orderBy('seq').limit(1));
  if (last === undefined || first === undefined) return false;
  if (!(await has(journal, core, last)))
    throw new SvcError(
      'refused',
      `the table workroom_events holds event ${last.seq}, which the files of the journal do not have`,
      {
        hint: 'the table is expected to be empty, or to hold what a killed `svc workroom convert` left: events that the files have too. `svc checkpoint create` keeps both; then svc workroom verify',
      },
    );
  for (let to = first.seq + SLICE; ; to += SLICE) {
    const statements = [LET_ROWS_GO, statement(sql.deleteFrom('workroom_events').where('seq', '<', to)), KEEP_ROWS];
    await commitOrThrow(core.writer, { name: 'workroom.left_over', statements });
    if (to > last.seq) return true;
  }
}

async function has(journal: JournalSource, { projectId }: Pick<Core, 'projectId'>, last: Head): Promise<boolean> {
  if (last.seq === 0) return last.hash === '' || last.hash === hashBeforeFirst(projectId);
  const [event] = await journal.slice({ after: last.seq - 1, limit: 1 });
  return event?.seq === last.seq && event.hash === last.hash;
}
