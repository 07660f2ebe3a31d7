// Verifies a checkpoint: the hashes of its parts, then a restore that is carried out beside the project and thrown away.
//
//   VERIFY-1  Nothing of the project but the result changes, and nothing connects: the host is assembled in test mode.
//   VERIFY-2  The result is written once, whole. A kill leaves the former result, and a folder that the next verification removes. A verification of the
//             state alone writes none: it asks whether this svc can take the state over, and proves no restore.
//   VERIFY-3  Hashes that are right take no rehearsal of the same bytes away, neither a good one nor its fault. Hashes that are wrong do.
import { constants, copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Environment, projectEnvironment } from '../../../shared/config/environment.ts';
import { stableJson, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { JOBS_FILE } from '../../../shared/jobs/job.ts';
import { CHECKPOINT_FILES, verificationFile } from '../../../shared/recovery/layout.ts';
import { type Manifest, readManifest } from '../../../shared/recovery/manifest.ts';
import { readVerification, type Verification } from '../../../shared/recovery/stored-checkpoints.ts';
import { coerceError } from '../../../shared/svc-error.ts';
import { VERSION } from '../../../shared/version.ts';
import { MIGRATIONS } from '../../database/migrations/list.ts';
import type { OnceReport } from '../../runtime/once-types.ts';
import { databaseFaults } from './database.ts';
import { jobsFaults, withoutTarget } from './jobs.ts';
import { damaged, hashOf, type PartFault, partFaults, placeOfPart } from './parts.ts';
import { openRehearsal } from './rehearsal-folder.ts';
import { insteadOf, namedCheckpoint } from './stored.ts';

export interface VerifyCheckpointOptions {
  readonly project: string;
  readonly environment: Environment;
  readonly name: string;
  /** Hashes alone. */
  readonly quick?: boolean;
  /** The state alone: the project in it is not assembled. For an svc that is not the one of that project. */
  readonly stateOnly?: boolean;
  /** Names the step that begins. */
  readonly onStep?: ((step: string) => void) | undefined;
}

export interface VerifyDeps {
  /** Assembles the project in that folder once, in test mode. */
  readonly once: (of: { readonly project: string; readonly environment: Environment }) => Promise<OnceReport>;
}

export interface VerifiedCheckpoint extends Verification {
  readonly name: string;
  /** Which checkpoint to take instead. Undefined if this one is good. */
  readonly instead?: string;
}

/** Throws `not_found`, and `conflict` while another process verifies. What is wrong with the checkpoint is in the result. */
export async function verifyCheckpoint(
  options: VerifyCheckpointOptions,
  deps: VerifyDeps,
): Promise<VerifiedCheckpoint> {
  const { project, name } = options;
  const folder = namedCheckpoint(project, name);
  process.umask(0o077); // as in a worker: new files are private to this user
  const startedAt = performance.now();
  const found = await look(folder, options, deps);
  const result: Verification = {
    at: new Date().toISOString(),
    level: found.level,
    ok: found.faults.length === 0,
    ...(found.faults.some(({ isDamage }) => isDamage === true) ? { isDamaged: true } : {}),
    ms: Math.round(performance.now() - startedAt),
    svc: VERSION,
    ...(found.level === 'rehearsed' ? { schema: MIGRATIONS.at(-1)?.id ?? 0 } : {}),
    ...(found.manifest === undefined ? {} : { manifest: found.manifest }),
    faults: found.faults.map(({ part, message, remedy }) => `${part}: ${message}. ${sentence(remedy)}`),
  };
  if ((options.stateOnly !== true || result.isDamaged === true) && !isOutdone(result, readVerification(project, name)))
    writeFileAtomic(verificationFile(project, name), stableJson(result));
  return { name, ...result, ...(result.ok ? {} : { instead: insteadOf(project, name) }) };
}

/** VERIFY-3. */
const isOutdone = ({ ok, level, manifest }: Verification, former: Verification | undefined): boolean =>
  ok &&
  level === 'checked' &&
  former?.level === 'rehearsed' &&
  former.manifest !== undefined &&
  former.manifest === manifest;

const sentence = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/u.test(text) ? '' : '.'}`;

interface Found {
  readonly level: Verification['level'];
  readonly faults: readonly PartFault[];
  /** SHA-256 of the manifest, which names the bytes of all parts. Undefined where it cannot be read. */
  readonly manifest?: string;
}

async function look(folder: string, options: VerifyCheckpointOptions, deps: VerifyDeps): Promise<Found> {
  const { project, name, quick = false, onStep = () => {} } = options;
  let manifest: Manifest;
  try {
    manifest = readManifest(folder);
  } catch (error) {
    const { message, code, hint } = coerceError(error);
    const told = damaged(CHECKPOINT_FILES.manifest, message);
    return {
      level: 'checked',
      faults: [code === 'schema_newer' && hint !== undefined ? { ...told, remedy: hint, isDamage: false } : told],
    };
  }
  onStep('hashes');
  const faults = await partFaults(project, name, manifest);
  const of = { manifest: await hashOf(join(folder, CHECKPOINT_FILES.manifest)) };
  if (quick || faults.length > 0 || manifest.database.dialect !== 'sqlite') return { level: 'checked', faults, ...of };
  const rehearsal = openRehearsal(project);
  try {
    onStep('copy');
    lay({ project, name, manifest, at: rehearsal.path });
    onStep('database');
    const { database, workroomCatalog: catalogFile, workroomJournal } = projectPaths(rehearsal.path);
    const ofDatabase = await databaseFaults(database, manifest, {
      folder: workroomJournal,
      catalogFile,
      isLive: false,
    });
    onStep('jobs');
    const ofJobs = await jobsFaults(rehearsal.path, manifest);
    if (options.stateOnly === true) return { level: 'rehearsed', faults: [...ofDatabase, ...ofJobs], ...of };
    onStep('assembly');
    const ofProject = await projectFaults({ ...options, manifest, at: rehearsal.path }, deps);
    return { level: 'rehearsed', faults: [...ofDatabase, ...ofJobs, ...ofProject], ...of };
  } finally {
    rehearsal.remove();
  }
}

interface Laying {
  readonly project: string;
  readonly name: string;
  readonly manifest: Manifest;
  readonly at: string;
}

/** Puts the parts where a restore would put them. Stored files stay: their hashes were compared. */
function lay({ project, name, manifest, at }: Laying): void {
  const inProject = `${CHECKPOINT_FILES.project}/`;
  for (const { path } of manifest.parts) {
    const target = path.startsWith(inProject) ? join(at, path.slice(inProject.length)) : stateTarget(path, at);
    if (target === undefined) continue;
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    copyFileSync(placeOfPart(project, name, path), target, constants.COPYFILE_FICLONE);
  }
  const modules = join(project, 'node_modules');
  if (existsSync(modules)) symlinkSync(modules, join(at, 'node_modules'), 'dir');
}

function stateTarget(path: string, at: string): string | undefined {
  const { database, workroomCatalog, workroomJournal } = projectPaths(at);
  if (path === CHECKPOINT_FILES.database) return database;
  if (path === CHECKPOINT_FILES.catalog) return workroomCatalog;
  if (path === CHECKPOINT_FILES.jobs) return join(at, JOBS_FILE);
  const inJournal = `${CHECKPOINT_FILES.journal}/`;
  return path.startsWith(inJournal) ? join(workroomJournal, path.slice(inJournal.length)) : undefined;
}

interface OfProject extends VerifyCheckpointOptions {
  readonly manifest: Manifest;
  readonly at: string;
}

async function projectFaults(of: OfProject, { once }: VerifyDeps): Promise<readonly PartFault[]> {
  const { project, environment, at, manifest } = of;
  const { values } = projectEnvironment({ file: projectPaths(project).env, mode: 'test', environment });
  const report = await once({ project: at, environment: values });
  const config = `${CHECKPOINT_FILES.project}/svc.config.yml`;
  const faults = report.faults
    .filter(({ component }) => component !== 'jobs') // told with their own remedy
    .map(
      ({ component, message, hint }): PartFault => ({
        part: report.error === null ? CHECKPOINT_FILES.project : config,
        message: report.error === null ? `${component}: ${message}` : message,
        remedy: hint ?? 'restore another checkpoint, or mend it after the restore, before the start',
      }),
    );
  const targets = report.jobs.flatMap(({ id, missing }) =>
    missing === undefined ? [] : [withoutTarget(id.replace(/^job\//, ''), missing)],
  );
  const others = faults.length > 0 ? await otherPackages(project, manifest) : [];
  return [...faults, ...targets, ...others];
}

/** The packages of the project are those of its lockfile. A checkpoint with another one may need others. */
async function otherPackages(project: string, { lockfile }: Manifest): Promise<readonly PartFault[]> {
  const file = projectPaths(project).lockfile;
  if (lockfile === null || !existsSync(file) || (await hashOf(file)) === lockfile.sha256) return [];
  return [
    {
      part: `${CHECKPOINT_FILES.project}/package-lock.json`,
      message: 'differs from the lockfile of the project, whose packages were used',
      remedy: 'the faults of code may be of that: `npm ci` in a copy of its project tells',
    },
  ];
}
