// Takes an archive in as a checkpoint with a new number. Needs no host.
//
//   IMPORT-1  Before the manifest is accepted nothing is made. What is refused later leaves nothing but a spent number.
//   IMPORT-2  Each file is new (O_EXCL), in a folder that this process has made, and on the disk before the checkpoint has its name.
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readStatePlace } from '../../../shared/config/access.ts';
import type { Environment } from '../../../shared/config/environment.ts';
import { stableJson, syncFolder } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { ensureStateFolder } from '../../../shared/files/state-folder.ts';
import { failpointsOf } from '../../../shared/process/failpoints.ts';
import {
  CHECKPOINT_FILES,
  checkpointFolder,
  SHARED_FILES,
  takeNumber,
  unfinished,
} from '../../../shared/recovery/layout.ts';
import type { Manifest } from '../../../shared/recovery/manifest.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { storedProjectId } from '../../database/stored-schema.ts';
import { lockRecovery, type RecoveryLock } from '../checkpoint/lock.ts';
import { removeLeftovers } from '../checkpoint/make-checkpoint.ts';
import { type FoundManifest, type ReadOptions, readArchive } from './read-archive.ts';

export interface ImportOptions extends ReadOptions {
  readonly project: string;
  readonly environment: Environment;
}

export interface Imported {
  /** The number that it has here. */
  readonly name: string;
  readonly manifest: Manifest;
  /** SHA-256 of its manifest. */
  readonly sha256: string;
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Throws `archive_refused`, `checkpoint_foreign`, `schema_newer`, `not_found`, and `conflict` while a checkpoint is made. */
export async function importCheckpoint({ project, environment, ...read }: ImportOptions): Promise<Imported> {
  if (statSync(read.file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new SvcError('not_found', `there is no file ${read.file}`);
  const point = FAILPOINTS ? failpointsOf(environment['SVC_FAILPOINTS']) : undefined;
  let staging: Staging | undefined;
  let lock: RecoveryLock | undefined;
  try {
    const found = await readArchive(read, {
      begin({ manifest }) {
        refuseForeign(project, environment, manifest);
        process.umask(0o077); // as in a worker: new files are private to this user
        ensureStateFolder(projectPaths(project).stateDir);
        lock = lockRecovery(project);
        staging = new Staging(project);
      },
      part: (path) => (staging as Staging).part(path),
    });
    if (FAILPOINTS) await point?.('import.read');
    const name = (staging as unknown as Staging).finish(found);
    if (FAILPOINTS) await point?.('import.renamed');
    return { name, manifest: found.manifest, sha256: found.sha256 };
  } catch (error) {
    staging?.remove();
    throw error;
  } finally {
    lock?.release();
  }
}

function refuseForeign(project: string, environment: Environment, manifest: Manifest): void {
  const { filename } = readStatePlace({ project, mode: 'development', environment });
  const here = storedProjectId(resolve(project, filename));
  if (here === undefined || here === manifest.project) return;
  throw new SvcError('checkpoint_foreign', `the archive is of project ${manifest.project}, here is project ${here}`, {
    hint: 'Import it into a folder without state: a copy of the project without .svc and data.',
  });
}

/** The folder of a checkpoint that is not whole yet. The caller holds the lock. */
class Staging {
  readonly #project: string;
  readonly #name: string;
  readonly #folder: string;
  readonly #folders = new Set<string>();
  #open: number | undefined;

  constructor(project: string) {
    removeLeftovers(project);
    this.#project = project;
    this.#name = takeNumber(project, 'checkpoint');
    this.#folder = unfinished(checkpointFolder(project, this.#name));
    mkdirSync(this.#folder, { mode: 0o700 });
    this.#folders.add(this.#folder);
  }

  part(path: string): { write(chunk: Buffer): void; end(): void } {
    const file = join(this.#folder, path);
    for (let at = dirname(file); !this.#folders.has(at); at = dirname(at)) {
      mkdirSync(at, { recursive: true, mode: 0o700 });
      this.#folders.add(at);
    }
    const descriptor = openSync(file, NEW_FILE, 0o600);
    this.#open = descriptor;
    return {
      write(chunk) {
        for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at);
      },
      end: () => {
        fsyncSync(descriptor);
        this.#close();
      },
    };
  }

  /** The manifest gets the number that the checkpoint has here; `imported` tells what it was where it was made. */
  finish({ manifest, text, sha256 }: FoundManifest): string {
    const { checkpointsDir } = projectPaths(this.#project);
    this.#shareFiles(manifest);
    const last = this.part(CHECKPOINT_FILES.manifest);
    const imported = { name: manifest.name, manifest: sha256, at: new Date().toISOString() };
    last.write(Buffer.from(stableJson({ ...(JSON.parse(text) as object), name: this.#name, imported })));
    last.end();
    for (const folder of this.#folders) if (existsSync(folder)) syncFolder(folder);
    renameSync(this.#folder, checkpointFolder(this.#project, this.#name));
    syncFolder(checkpointsDir);
    return this.#name;
  }

  /** Files by content are there once for all checkpoints. One of the archive replaces one of the same hash: its hash was just compared. */
  #shareFiles(manifest: Manifest): void {
    const files = manifest.parts.filter(({ path }) => path.startsWith(`${SHARED_FILES}/`));
    if (files.length === 0) return;
    const shared = join(projectPaths(this.#project).checkpointsDir, SHARED_FILES);
    mkdirSync(shared, { recursive: true, mode: 0o700 });
    for (const { path } of files) renameSync(join(this.#folder, path), join(shared, basename(path)));
    syncFolder(shared);
    rmSync(join(this.#folder, SHARED_FILES), { recursive: true });
  }

  remove(): void {
    this.#close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #close(): void {
    if (this.#open !== undefined) closeSync(this.#open);
    this.#open = undefined;
  }
}
