// The record of a release: `.svc/releases/r7/record.json`, format `svc.release/1`. It says what was released, from what, and each step with time
// and actor. It is written whole before a step is told as done, so a kill between two steps leaves the step before.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { stableJson, writeFileAtomic } from '../files/atomic-file.ts';
import { projectPaths } from '../files/paths.ts';
import { loadAjv } from '../load-ajv.ts';
import { SvcError } from '../svc-error.ts';
import { RELEASE_NAME } from './layout.ts';

export const RELEASE_FORMAT = 'svc.release/1';

const text = Type.String();
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/**
 * - `begun`: ingress is paused, nothing is under way, the restore point is made
 * - `checked`: the new code was installed, built and tried beside the old one
 * - `started`: the new code serves, ingress still is paused
 * - `accepted`: somebody, or `svc accept`, found it right
 * - `observing`: ingress is open, the window runs
 * - `finished`: the window is over with a good verdict
 * - `rolled_back`: code, lockfile, configuration and data are those of before
 */
export const RELEASE_STATES = [
  'begun',
  'checked',
  'started',
  'accepted',
  'observing',
  'finished',
  'rolled_back',
] as const;
export type ReleaseState = (typeof RELEASE_STATES)[number];
const stateSchema = Type.Enum([...RELEASE_STATES]);

/** What runs, or is to run. */
const versionSchema = Type.Object({
  commit: orNull(text),
  /** SHA-256 of the lockfile. */
  lockfile: orNull(text),
  configVersion: orNull(text),
  svc: orNull(text),
  /** Number of the last migration. */
  schema: orNull(Type.Integer()),
});
export type ReleasedVersion = Static<typeof versionSchema>;

export const verdictSchema = Type.Object({
  verdict: Type.Enum(['good', 'bad', 'unclear']),
  /** What decided, in one sentence. */
  signal: text,
  at: text,
});
export type StoredVerdict = Static<typeof verdictSchema>;

export const releaseRecordSchema = Type.Object(
  {
    format: Type.Literal(RELEASE_FORMAT),
    name: text,
    /** Where the new code comes from. `image`: the container that runs the command. */
    source: Type.Object({ kind: Type.Enum(['commit', 'folder', 'image']), value: text }),
    state: stateSchema,
    steps: Type.Array(Type.Object({ state: stateSchema, at: text, actor: text })),
    before: versionSchema,
    after: orNull(versionSchema),
    /** The checkpoint that a rollback goes back to. */
    restorePoint: text,
    /** Who keeps the host up, and so stops and starts it: `daemon`, `systemd`, `launchd`; for an image whatever runs it. */
    owner: text,
    /** SHA-256 of the tree that was checked; null before. */
    tree: orNull(text),
    /** Ingress was paused before the release began, so `observe` leaves it paused. */
    wasPaused: Type.Boolean(),
    /** Results of the checks, by name: `install`, `doctor`, `build`, `test`, `once`, `migrate`. */
    results: Type.Record(text, Type.Object({ ok: Type.Boolean(), ms: Type.Integer(), detail: orNull(text) })),
    /** End of the window; null until it runs. */
    windowUntil: orNull(text),
    verdict: orNull(verdictSchema),
  },
  { additionalProperties: true },
);
export type ReleaseRecord = Static<typeof releaseRecordSchema>;

export const releaseFolder = (project: string, name: string): string => join(projectPaths(project).releasesDir, name);
const recordFile = (project: string, name: string): string => join(releaseFolder(project, name), 'record.json');

/** Once it returns, the record is on disk. */
export function writeRelease(project: string, record: ReleaseRecord): void {
  const file = recordFile(project, record.name);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileAtomic(file, stableJson(record));
}

/** Throws `not_found`, and `refused` for a record that cannot be read. */
export function readRelease(project: string, name: string): ReleaseRecord {
  const file = recordFile(project, name);
  if (!existsSync(file))
    throw new SvcError('not_found', `there is no release ${name}`, { hint: 'svc release history' });
  const Ajv = loadAjv();
  const isRecord = new Ajv({ strict: false }).compile(releaseRecordSchema);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw unreadable(file, 'is no JSON', error);
  }
  if (isRecord(value)) return value;
  const [fault] = isRecord.errors ?? [];
  throw unreadable(file, `${fault?.instancePath ?? ''} ${fault?.message ?? 'is wrong'}`);
}

const unreadable = (file: string, why: string, cause?: unknown): SvcError =>
  new SvcError('refused', `${file}: ${why}`, {
    cause,
    hint: 'Look at the file. A release whose record is lost is ended by removing its folder; its restore point stays.',
  });

/** Every release, the oldest first. */
export function listReleases(project: string): readonly ReleaseRecord[] {
  const folder = projectPaths(project).releasesDir;
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => RELEASE_NAME.test(name) && existsSync(recordFile(project, name)))
    .sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
    .map((name) => readRelease(project, name));
}

export const isEnded = ({ state }: Pick<ReleaseRecord, 'state'>): boolean =>
  state === 'finished' || state === 'rolled_back';

/** The release that has not ended. There is at most one. */
export const openRelease = (project: string): ReleaseRecord | undefined =>
  listReleases(project).find((record) => !isEnded(record));
