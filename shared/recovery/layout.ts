// Names in the folder of a checkpoint, and the numbers that name checkpoints, releases and replaced states.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stableJson, writeFileAtomic } from '../files/atomic-file.ts';
import { projectPaths } from '../files/paths.ts';
import { SvcError } from '../svc-error.ts';

/** Files of a checkpoint, relative to its folder. `data.sqlite` is one file: its WAL is part of it. */
export const CHECKPOINT_FILES = {
  manifest: 'manifest.json',
  database: 'data.sqlite',
  journal: 'journal',
  catalog: 'catalog.json',
  jobs: 'jobs.json',
  project: 'project',
} as const;

/** Folder of the files of `data/media` in `.svc/checkpoints/`, by SHA-256, shared by all checkpoints. */
export const SHARED_FILES = 'files';

/** Folder of a checkpoint while it is made. It is renamed when it is whole. */
export const unfinished = (folder: string): string => `${folder}.part`;

export const checkpointFolder = (project: string, name: string): string =>
  join(projectPaths(project).checkpointsDir, name);

/** Result of the last verification, beside the folder: the folder itself never changes. */
export const verificationFile = (project: string, name: string): string =>
  join(projectPaths(project).checkpointsDir, `${name}.verified.json`);

export const CHECKPOINT_NAME = /^c[1-9][0-9]{0,8}$/u;
export const RELEASE_NAME = /^r[1-9][0-9]{0,8}$/u;

export type Numbered = 'checkpoint' | 'release' | 'replaced';
const LETTERS = { checkpoint: 'c', release: 'r', replaced: 's' } as const satisfies Record<Numbered, string>;

/**
 * Takes the next name, such as `c12`. It is on disk before it is returned, so a number is used once, also after a kill. The caller holds the
 * writer lock, or is the worker that holds it.
 */
export function takeNumber(project: string, of: Numbered): string {
  const file = projectPaths(project).recoveryNumbers;
  const numbers = readNumbers(file);
  const next = (numbers[of] ?? 0) + 1;
  writeFileAtomic(file, stableJson({ ...numbers, [of]: next }));
  return `${LETTERS[of]}${next}`;
}

function readNumbers(file: string): Partial<Record<Numbered, number>> {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<Numbered, number>>;
  } catch (error) {
    throw new SvcError('refused', `${file} cannot be read: the numbers of checkpoints and releases stand in it`, {
      cause: error,
      hint: 'Write {"checkpoint": N, "release": N, "replaced": N} with the highest numbers that were used.',
    });
  }
}
