// The plan of a restore: what is lost, what stays done in the world, what comes along. Reads both states and changes nothing.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LostWork } from '../../../shared/api/recovery/checkpoint.ts';
import { stableJson } from '../../../shared/files/atomic-file.ts';
import { CONFIG_FILE, projectPaths } from '../../../shared/files/paths.ts';
import { CHECKPOINT_FILES } from '../../../shared/recovery/layout.ts';
import { type Level, storedCheckpoint } from '../../../shared/recovery/stored-checkpoints.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { migrate } from '../../database/migrate.ts';
import { openReadOnly } from '../../database/sqlite/connection.ts';
import { readStoredSchema } from '../../database/stored-schema.ts';
import { type Compared, compareStates } from './compare-states.ts';
import type { Places } from './places.ts';
import { differingKeys } from './present-files.ts';
import { damagedDatabase, isSound, type Source } from './source.ts';
import { type State, stateOf } from './state-reader.ts';

/** In the folder of a checkpoint. */
const KEPT_CONFIG = join(CHECKPOINT_FILES.project, CONFIG_FILE);

export interface RestorePlan {
  readonly purpose: 'restore' | 'undo';
  readonly name: string;
  readonly createdAt: string;
  readonly level: Level | null;
  readonly verifiedAt: string | null;
  /** Null for a replaced state. */
  readonly made: { readonly svc: string; readonly commit: string | null } | null;
  readonly past: StateFacts;
  /** Null: there is no state here yet. */
  readonly now: StateFacts | null;
  /** Why the present state cannot be read: nothing of it comes along. */
  readonly unreadable: string | null;
  /** Whether the present schema has a breaking migration that the one of the checkpoint has not. */
  readonly isBreaking: boolean;
  /** The commit that is checked out; null: none is. */
  readonly commit: string | null;
  readonly isConfigSame: boolean | null;
  /** Paths in svc.config.yml whose values differ; null: nobody can tell. */
  readonly configKeys: readonly string[] | null;
  readonly isLockfileSame: boolean | null;
  /** Secrets whose value differs from the one at the time; null: nobody can tell. */
  readonly secrets: readonly string[] | null;
  readonly lost: LostWork | null;
  readonly notUndone: { readonly sends: Readonly<Record<string, number>> } | null;
  /** Null: nothing comes along. */
  readonly comesAlong: {
    readonly received: number;
    readonly waitingSends: number;
    /** Tasks that were set since. */
    readonly waitingTasks: number;
    readonly ids: number;
    readonly endedItems: number;
    readonly endedSends: number;
    readonly tasks: number;
  } | null;
  /** Rows of the present state that the restored schema has no place for, by `table.column` and `table`. Null: nothing comes along. */
  readonly notHeld: Readonly<Record<string, number>> | null;
  /** Without carry: what is open in the checkpoint. */
  readonly open: { readonly items: number; readonly sends: number } | null;
  readonly bytes: number;
  /** Changes with the present state and with the options. */
  readonly digest: string;
}

export interface StateFacts {
  readonly epoch: string;
  /** Position of the last event. */
  readonly head: number;
  /** Number of the last migration. */
  readonly schema: number;
  readonly project: string;
  readonly journal: number;
}

export interface PlanOptions {
  readonly places: Places;
  readonly source: Source;
  readonly carry: boolean;
  readonly open: 'handle' | 'drop' | undefined;
  readonly now: number;
  /** Names of secrets that have changed since; undefined: nobody can tell. */
  readonly secrets?: readonly string[] | undefined;
  /** The commit that is checked out. */
  readonly commit?: string | null;
}

/** The present state, open for reading; the caller closes it. */
export interface Present {
  readonly state: State | undefined;
  readonly unreadable: string | undefined;
  close(): void;
}

/**
 * Never throws: a state that cannot be read comes back as the reason. `isAlone`: this process holds the writer lock. Then what SQLite makes beside the
 * database for a reader is removed again.
 */
export function openPresent({ database, databaseFile: file }: Places, isAlone: boolean): Present {
  const none = (unreadable?: string): Present => ({ state: undefined, unreadable, close() {} });
  if (!existsSync(file) && !existsSync(`${file}-wal`)) return none();
  const schema = readStoredSchema(database);
  // A newer svc has written it. It is only read, by the names that this svc knows: what came in since must not be lost with a rollback.
  if (schema.state === 'refused' && schema.reason.code !== 'schema_newer') return none(schema.reason.message);
  if (schema.state === 'absent') return none('the database is empty');
  const made = ['-wal', '-shm'].map((suffix) => `${file}${suffix}`).filter((path) => !existsSync(path));
  try {
    const opened = openReadOnly(file);
    const close = (): void => {
      if (!opened.open) return;
      opened.close();
      if (isAlone) for (const path of made) rmSync(path, { force: true });
    };
    return readable(stateOf(opened), close);
  } catch (error) {
    return none(messageOf(error));
  }
}

/** SQLite reads the file with the first query. */
function readable(state: State, close: () => void): Present {
  try {
    factsOf(state);
    return { state, unreadable: undefined, close };
  } catch (error) {
    close();
    return { state: undefined, unreadable: messageOf(error), close };
  }
}

/** Throws `checkpoint_foreign`, `checkpoint_damaged`, and what the source throws. */
export function planRestore(options: PlanOptions, present: Present): RestorePlan {
  const { source, places } = options;
  let opened: Database | undefined;
  try {
    // A replaced state may have a WAL beside it: it is read as SQLite reads it.
    opened = openReadOnly(join(source.folder, CHECKPOINT_FILES.database));
    const kept = stateOf(opened);
    const past = factsOf(kept);
    const now = present.state === undefined ? null : factsOf(present.state);
    if (now !== null && now.project !== '' && past.project !== now.project)
      throw new SvcError('checkpoint_foreign', `${source.name} is of another project than the state that lies here`, {
        hint: 'restore it into an empty folder with this configuration; the projects are told apart by the id in their databases',
      });
    return plan(options, { kept, past, now, present });
  } catch (error) {
    if (error instanceof SvcError && opened !== undefined) throw error;
    throw damagedDatabase({ ...source, project: places.project }, error);
  } finally {
    opened?.close();
  }
}

interface Facts {
  readonly kept: State;
  readonly past: StateFacts;
  readonly now: StateFacts | null;
  readonly present: Present;
}

function plan(options: PlanOptions, { kept, past, now, present }: Facts): RestorePlan {
  const { source, places, carry, open } = options;
  const { name, createdAt, purpose, manifest, parts } = source;
  const [compared, unreadable] = compare(options, kept, present);
  const isCarried = carry && compared !== undefined;
  const verification = storedCheckpoint(places.project, name)?.verification;
  const jobs = changedJobs(places, source);
  const { config, lockfile } = projectPaths(places.project);
  return {
    purpose,
    name,
    createdAt,
    level: manifest === undefined ? null : (storedCheckpoint(places.project, name)?.level ?? 'made'),
    verifiedAt: verification?.ok === true ? verification.at : null,
    made: manifest === undefined ? null : { svc: manifest.svc, commit: manifest.commit?.id ?? null },
    past,
    now,
    unreadable: unreadable ?? null,
    isBreaking: present.state !== undefined && isBreaking(present.state, kept),
    commit: options.commit ?? null,
    isConfigSame: isSame(config, manifest?.config.sha256),
    configKeys: manifest === undefined ? null : differingKeys(config, join(source.folder, KEPT_CONFIG)),
    isLockfileSame: isSame(lockfile, manifest?.lockfile?.sha256),
    secrets: options.secrets ?? null,
    lost:
      compared === undefined || now === null || present.state === undefined
        ? null
        : lostOf(compared, { past, now, jobs, isCarried, accounts: changedAccounts(present.state, kept) }),
    notUndone: compared === undefined ? null : { sends: compared.sent },
    comesAlong: isCarried ? alongOf(compared) : null,
    notHeld: isCarried ? compared.notHeld : null,
    open: isCarried ? null : openIn(kept),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    digest: digestOf({ id: source.id, name, carry, open: open ?? null, now, unreadable: unreadable ?? null }),
  };
}

function compare(
  { now: at }: PlanOptions,
  kept: State,
  { state, unreadable }: Present,
): readonly [Compared | undefined, string | undefined] {
  if (state === undefined) return [undefined, unreadable];
  const schema = new Sqlite(':memory:');
  try {
    migrate(schema, at); // as the staged copy of the checkpoint will be
    return [compareStates({ replaced: state, kept, at, schema: stateOf(schema) }), undefined];
  } catch (error) {
    if (!isSound(kept.database)) throw error; // the source is at fault, and not the present state
    return [undefined, messageOf(error)];
  } finally {
    schema.close();
  }
}

const lostOf = (
  { handled, plugins, tasks, lostSends }: Compared,
  {
    past,
    now,
    jobs,
    isCarried,
    accounts,
  }: {
    readonly past: StateFacts;
    readonly now: StateFacts;
    readonly jobs: number;
    readonly isCarried: boolean;
    readonly accounts: number;
  },
): LostWork => ({
  events: past.epoch === now.epoch ? Math.max(0, now.head - past.head) : now.head,
  handled,
  plugins,
  journal: now.journal > past.journal ? { from: past.journal + 1, to: now.journal } : null,
  jobs,
  tasks: isCarried ? 0 : tasks.brought,
  sends: lostSends,
  accounts,
});

const alongOf = ({ received, waitingSends, ids, endedItems, endedSends, tasks }: Compared) => ({
  received,
  waitingSends,
  waitingTasks: tasks.brought,
  ids,
  endedItems,
  endedSends,
  tasks: tasks.gone + tasks.moved,
});

const openIn = (kept: State) => ({
  items: kept.all('inbox', 'done_at IS NULL').length,
  sends: kept.all('outbox', 'done_at IS NULL').length,
});

export function factsOf(state: State): StateFacts {
  const meta = new Map(state.all('meta').map(({ key, value }) => [key, String(value)]));
  const counters = new Map(state.all('counters').map(({ name, value }) => [name, Number(value)]));
  const [last] = state.query('SELECT max(id) AS id FROM migrations');
  const [head] = state.all('workroom_head');
  return {
    epoch: meta.get('epoch') ?? '',
    head: counters.get('event') ?? 0,
    schema: Number(last?.['id'] ?? 0),
    project: meta.get('project_id') ?? '',
    journal: Number(head?.['seq'] ?? 0),
  };
}

function isBreaking(replaced: State, kept: State): boolean {
  const known = new Set(kept.all('migrations').map(({ id }) => id));
  return replaced.all('migrations', 'breaking = 1').some(({ id }) => !known.has(id));
}

/** Accounts that were enabled or disabled since: that is of the checkpoint. */
function changedAccounts(replaced: State, kept: State): number {
  const enabled = (state: State): ReadonlyMap<unknown, unknown> =>
    new Map(state.all('endpoints', 'enabled IS NOT NULL').map((row) => [row['endpoint'], row['enabled']]));
  const [now, then] = [enabled(replaced), enabled(kept)];
  return [...new Set([...now.keys(), ...then.keys()])].filter((name) => now.get(name) !== then.get(name)).length;
}

/** Jobs that were added, changed or removed since. A file that cannot be parsed counts as one. */
function changedJobs({ restored }: Places, { folder }: Source): number {
  const live = restored.find(({ name }) => name === CHECKPOINT_FILES.jobs)?.live ?? '';
  const [now, then] = [jobsIn(live), jobsIn(join(folder, CHECKPOINT_FILES.jobs))];
  if (now === undefined || then === undefined) return now === then ? 0 : 1;
  return [...new Set([...now.keys(), ...then.keys()])].filter((id) => now.get(id) !== then.get(id)).length;
}

function jobsIn(file: string): ReadonlyMap<unknown, string> | undefined {
  if (!existsSync(file)) return new Map();
  try {
    const { jobs } = JSON.parse(readFileSync(file, 'utf8')) as { readonly jobs: readonly { readonly id: unknown }[] };
    return new Map(jobs.map((job) => [job.id, stableJson(job)]));
  } catch {
    return undefined;
  }
}

/** Null: nothing to compare with. */
function isSame(file: string, sha256: string | undefined): boolean | null {
  if (sha256 === undefined) return null;
  return existsSync(file) && createHash('sha256').update(readFileSync(file)).digest('hex') === sha256;
}

const digestOf = (of: unknown): string => createHash('sha256').update(stableJson(of)).digest('hex').slice(0, 16);
