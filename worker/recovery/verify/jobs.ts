// Proves the jobs of a rehearsal: by schema, as the manifest counts them, and each board that they name. The assembly tells of accounts and commands.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPaths } from '../../../shared/files/paths.ts';
import { JOBS_FILE, type Job } from '../../../shared/jobs/job.ts';
import { checkJobs, jobsFaultLine } from '../../../shared/jobs/jobs-file.ts';
import { CHECKPOINT_FILES } from '../../../shared/recovery/layout.ts';
import type { Manifest } from '../../../shared/recovery/manifest.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { type MissingTarget, missingTarget } from '../../jobs/job-item.ts';
import { entityOf } from '../../workroom/journal/catalog-rows.ts';
import { damaged, type PartFault } from './parts.ts';

const inJobs = (message: string): PartFault => ({
  part: CHECKPOINT_FILES.jobs,
  message,
  remedy: `mend ${JOBS_FILE} of the project and make a new checkpoint; after a restore, mend the restored file`,
});

export const withoutTarget = (job: string, missing: MissingTarget): PartFault =>
  inJobs(`${job} has a target that is not in the checkpoint (${missing})`);

/** `at` stands for the project. The database was read before. */
export async function jobsFaults(at: string, { jobs, tz }: Manifest): Promise<readonly PartFault[]> {
  const file = join(at, JOBS_FILE);
  if (!existsSync(file)) return jobs.count === 0 ? [] : [damaged(CHECKPOINT_FILES.jobs, 'is missing')];
  const checked = await checkJobs(readFileSync(file, 'utf8'), { zone: tz.zone, now: Date.now() });
  if (checked.kind === 'invalid') return checked.faults.map((one) => inJobs(jobsFaultLine(one)));
  const { jobs: listed, revision } = checked.document;
  const counted = `has ${listed.length} jobs of revision ${revision}, the manifest says ${jobs.count} of ${jobs.revision}`;
  const counts =
    listed.length === jobs.count && revision === jobs.revision ? [] : [damaged(CHECKPOINT_FILES.jobs, counted)];
  return [...counts, ...(await boardFaults(projectPaths(at).database, listed))];
}

async function boardFaults(database: string, jobs: readonly Job[]): Promise<readonly PartFault[]> {
  const opening = jobs.filter(({ action }) => action.kind === 'item');
  if (opening.length === 0) return [];
  const boards = boardsIn(database);
  const targets = {
    prefix: '/',
    endpoint: () => undefined,
    hasCommand: () => false,
    board: (id: string) => Promise.resolve(boards.get(id)),
  };
  const missing = await Promise.all(
    opening.map(async (job) => ({ id: job.id, missing: await missingTarget(job, targets) })),
  );
  return missing.flatMap((one) => (one.missing === undefined ? [] : [withoutTarget(one.id, one.missing)]));
}

/** Members with a role on each board. Empty for a database that was told to be damaged. */
function boardsIn(file: string): ReadonlyMap<string, readonly string[]> {
  try {
    const database = new Sqlite(file, { fileMustExist: true });
    try {
      const rows = database.prepare("SELECT kind, data FROM workroom_catalog WHERE kind = 'board'").all();
      return new Map((rows as BoardRow[]).flatMap(boardIn));
    } finally {
      database.close();
    }
  } catch {
    return new Map();
  }
}

type BoardRow = Parameters<typeof entityOf>[0];

function boardIn(row: BoardRow): readonly (readonly [string, readonly string[]])[] {
  const entity = entityOf(row);
  if (entity.kind !== 'board' || entity.board.archived) return [];
  const { id, roles } = entity.board;
  return [[id, Object.entries(roles).flatMap(([member, held]) => (held.length === 0 ? [] : [member]))]];
}
