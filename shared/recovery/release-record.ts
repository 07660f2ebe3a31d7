// The record of a release: `.svc/releases/r7/record.json`, format `svc.release/1`. It says what was released, from what, and each step with time
// and actor. It is written whole before a step is told as done, so a kill between two steps leaves the step before.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { lostWorkSchema } from '../api/recovery/checkpoint.ts';
import { stableJson, syncFolder, writeFileAtomic } from '../files/atomic-file.ts';
import { projectPaths } from '../files/paths.ts';
import { loadAjv } from '../load-ajv.ts';
import { coerceError, SvcError } from '../svc-error.ts';
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
  /** Name of the image, where whatever runs it has told it. */
  image: Type.Optional(orNull(text)),
});
export type ReleasedVersion = Static<typeof versionSchema>;

const verdictSchema = Type.Object({
  verdict: Type.Enum(['good', 'bad', 'unclear']),
  /** What decided, in one sentence. */
  signal: text,
  at: text,
});

const rollbackSchema = Type.Object({
  /** The replaced state in `.svc/replaced/`, which holds all of it; null: there was none. */
  replaced: orNull(text),
  /** Null: nobody can tell. */
  lost: orNull(lostWorkSchema),
  /** Why the state of the new version could not be read. Then nothing of it came along. */
  unreadable: orNull(text),
});
export type TakenBack = Static<typeof rollbackSchema>;

const operatorPauseSchema = Type.Object({
  mode: Type.Enum(['park', 'reject']),
  reason: orNull(text),
  /** RFC 3339 time at which it ends by itself. */
  until: orNull(text),
});
export type OperatorPause = Static<typeof operatorPauseSchema>;

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
    /** systemd: the manager that has the unit, of the system or of one user. */
    scope: Type.Optional(Type.Enum(['system', 'user'])),
    /** SHA-256 of the tree that was checked; null before. */
    tree: orNull(text),
    /** Ingress was paused before the release began, so `observe` leaves it paused. */
    wasPaused: Type.Boolean(),
    /** That pause, or one that an operator has made since: a rollback makes it again. */
    operatorPause: Type.Optional(operatorPauseSchema),
    /** Results of the checks, by name: `install`, `build`, `test`, `doctor`, `once`, `migrate`; of `start`, from the stop until ready. */
    results: Type.Record(text, Type.Object({ ok: Type.Boolean(), ms: Type.Integer(), detail: orNull(text) })),
    /** End of the window; null until it runs. */
    windowUntil: orNull(text),
    verdict: orNull(verdictSchema),
    /** What a rollback takes back: written before it decides, so until the release is rolled back it tells of an attempt. */
    rollback: Type.Optional(rollbackSchema),
  },
  { additionalProperties: true },
);
export type ReleaseRecord = Static<typeof releaseRecordSchema>;

export const releaseFolder = (project: string, name: string): string => join(projectPaths(project).releasesDir, name);
const recordFile = (project: string, name: string): string => join(releaseFolder(project, name), 'record.json');

/** Compiled once: a running host reads a record each minute. */
let checkRecord: ValidateFunction<ReleaseRecord> | undefined;

/** Once it returns, the record is on disk. */
export function writeRelease(project: string, record: ReleaseRecord): void {
  const file = recordFile(project, record.name);
  const { releasesDir, stateDir } = projectPaths(project);
  const made = mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileAtomic(file, stableJson(record));
  if (made !== undefined) for (const folder of [releasesDir, stateDir]) syncFolder(folder);
}

/** Throws `not_found`, and `refused` for a record that cannot be read. */
export function readRelease(project: string, name: string): ReleaseRecord {
  const file = recordFile(project, name);
  if (!existsSync(file))
    throw new SvcError('not_found', `there is no release ${name}`, { hint: 'svc release history' });
  const isRecord = (checkRecord ??= new (loadAjv())({ strict: false }).compile<ReleaseRecord>(releaseRecordSchema));
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

/** Names of all releases, the oldest first. */
export function releaseNames(project: string): readonly string[] {
  const folder = projectPaths(project).releasesDir;
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => RELEASE_NAME.test(name) && existsSync(recordFile(project, name)))
    .sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
}

/** Every release, the oldest first. Throws `refused` for a record that cannot be read. */
export const listReleases = (project: string): readonly ReleaseRecord[] =>
  releaseNames(project).map((name) => readRelease(project, name));

/** A release with its record, or why that cannot be read. */
export interface StoredRelease {
  readonly name: string;
  readonly record?: ReleaseRecord;
  readonly fault?: string;
}

/** Every release, the newest first. */
export const storedReleases = (project: string): readonly StoredRelease[] =>
  releaseNames(project)
    .toReversed()
    .map((name) => storedRelease(project, name));

export function newestRelease(project: string): StoredRelease | undefined {
  const name = releaseNames(project).at(-1);
  return name === undefined ? undefined : storedRelease(project, name);
}

function storedRelease(project: string, name: string): StoredRelease {
  try {
    return { name, record: readRelease(project, name) };
  } catch (error) {
    return { name, fault: coerceError(error).message };
  }
}

export const isEnded = ({ state }: Pick<ReleaseRecord, 'state'>): boolean =>
  state === 'finished' || state === 'rolled_back';

/** The release that has not ended. There is at most one. */
export const openRelease = (project: string): ReleaseRecord | undefined =>
  listReleases(project).find((record) => !isEnded(record));

/** When a step was done last. */
export function stepTime({ steps }: Pick<ReleaseRecord, 'steps'>, state: ReleaseState): number | undefined {
  const at = steps.findLast((one) => one.state === state)?.at;
  return at === undefined ? undefined : Date.parse(at);
}

/** The window that runs. Undefined before it and after an end. */
export function windowOf(
  record: Pick<ReleaseRecord, 'state' | 'steps'>,
): { readonly begunAt: number; readonly observedAt: number } | undefined {
  const [begunAt, observedAt] = [stepTime(record, 'begun'), stepTime(record, 'observing')];
  if (record.state !== 'observing' || begunAt === undefined || observedAt === undefined) return undefined;
  return { begunAt, observedAt };
}
