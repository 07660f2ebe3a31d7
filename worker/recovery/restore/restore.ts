// `svc checkpoint restore`: plan, stage, prepare, decide, finish. Under the writer lock, so only while nothing runs.
//
//   RESTORE-1  Until the switch is decided the present state is whole and untouched. A kill leaves `.svc/restoring.part`, which the next attempt
//              or the next start removes, and files in `data/media` that no row names yet: their name is their digest, so they harm nothing.
//   RESTORE-2  Once it is decided the new state comes: this command finishes the switch, or the next start does.
//   RESTORE-3  The replaced state is kept whole in `.svc/replaced/`, so that an undo can go back the same way.
//   RESTORE-4  A plan that was agreed to is refused once the present state has moved.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readStatePlace } from '../../../shared/config/access.ts';
import { loadConfig } from '../../../shared/config/load.ts';
import { stableJson, syncFolder, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { ensureStateFolder } from '../../../shared/files/state-folder.ts';
import { uuidv7 } from '../../../shared/identifiers.ts';
import { failpointsOf } from '../../../shared/process/failpoints.ts';
import { imageCommit } from '../../../shared/recovery/image-commit.ts';
import { CHECKPOINT_FILES, takeNumber } from '../../../shared/recovery/layout.ts';
import { refusePendingSwitch } from '../../../shared/recovery/pending-switch.ts';
import { decideSwitch, finishSwitch, type Rename, type Switch } from '../../../shared/recovery/switch.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { openReadOnly } from '../../database/sqlite/connection.ts';
import { lockForSwitch, lockWriter } from '../../database/writer-lock.ts';
import { type CodeSwitch, codeRenames } from '../release/switch-code.ts';
import { changedSecrets } from './changed-secrets.ts';
import type { Compared } from './compare-states.ts';
import { type Places, placesOf, switchPath } from './places.ts';
import { openPresent, planRestore, type RestorePlan } from './plan.ts';
import { carriedOf, prepareDatabase } from './prepare.ts';
import { presentCommit } from './present-files.ts';
import { checkpointSource, damagedDatabase, isSound, REPLACED_RECORD, type Source, undoSource } from './source.ts';
import { moveMedia, refuseWithoutRoom, sizeOf, stage } from './stage.ts';
import type { State } from './state-reader.ts';

export interface RestoreRequest {
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name of a checkpoint; undefined: the newest replaced state. */
  readonly name: string | undefined;
  readonly carry: boolean;
  /** Open items of the checkpoint where nothing comes along. */
  readonly open: 'handle' | 'drop' | undefined;
}

export interface RestoreOptions extends RestoreRequest {
  /** Of the plan that was agreed to. */
  readonly digest: string;
  readonly onProgress?: ((copied: number, of: number) => void) | undefined;
  /** Name of the release that this rolls back: its command goes on behind a switch that was cut. */
  readonly release?: string | undefined;
  /** The code of before comes in the same switch. */
  readonly code?: CodeSwitch | undefined;
  /** Called with the name of the state that is moved aside, before the switch is decided; null if there is none. */
  readonly beforeSwitch?: (replaced: string | null) => void;
}

export interface Restored {
  readonly name: string;
  /** Name of the state that was moved aside; null if there was none. */
  readonly replaced: string | null;
  readonly lost: number;
  readonly carried: number;
  /** Rows that came along without what the restored schema has no place for, by `table.column`; rows of tables that it does not have. */
  readonly notHeld: Readonly<Record<string, number>>;
}

/** Changes nothing. A host may run: then its database is read beside it. */
export function readRestorePlan(request: RestoreRequest): RestorePlan {
  const { project, environment } = request;
  refusePendingSwitch(project);
  const { places, source } = look(request);
  const lock = lockUnlessHeld(project);
  const present = openPresent(places, lock !== undefined);
  try {
    const secrets = source.manifest && changedSecrets(project, environment, source.manifest);
    const commit = presentCommit(project) ?? imageCommit(environment)?.id ?? null;
    return planRestore({ ...request, places, source, now: Date.now(), secrets, commit }, present);
  } finally {
    present.close();
    lock?.close();
  }
}

/** Undefined if a live worker holds the lock. */
function lockUnlessHeld(project: string): Database | undefined {
  try {
    return lockWriter(projectPaths(project));
  } catch (error) {
    if (error instanceof SvcError && error.code === 'already_running') return undefined;
    throw error;
  }
}

/** Throws `already_running`, `conflict` for a plan that is out of date, and every refusal of the plan and of the staging. */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { project, environment } = options;
  const paths = projectPaths(project);
  process.umask(0o077); // as in a worker: new files are private to this user
  ensureStateFolder(paths.stateDir);
  const lock = lockWriter(paths);
  try {
    const { places, source } = look(options);
    const point = FAILPOINTS ? failpointsOf(environment['SVC_FAILPOINTS']) : undefined;
    const staged = await stageAndPrepare(options, { places, source, point });
    options.beforeSwitch?.(staged.restored.replaced);
    decideSwitch(project, staged.plan);
    if (FAILPOINTS) await point?.('restore.decided');
    finishSwitch(project, {
      onStep: (step) => {
        if (FAILPOINTS && step === 'renamed') void point?.('restore.renamed');
        if (FAILPOINTS && step === 'finished') void point?.('restore.finished');
      },
    });
    return staged.restored;
  } finally {
    lock.close();
  }
}

/** Name of the state that the last restore of the present database has replaced; undefined where it knows of none. */
export function lastRestore({
  project,
  environment,
}: Pick<RestoreRequest, 'project' | 'environment'>): string | undefined {
  const { filename } = readStatePlace({ project, mode: 'development', environment });
  const present = openPresent(placesOf(project, filename), false);
  try {
    const [last] = present.state?.has('restores') === true ? present.state.query(LAST_RESTORE) : [];
    return last === undefined ? undefined : String(last['replaced']);
  } finally {
    present.close();
  }
}

/** By the number in the name: clocks may go back. */
const LAST_RESTORE = 'SELECT replaced FROM restores ORDER BY CAST(substr(replaced, 2) AS INTEGER) DESC LIMIT 1';

/** Finishes a pending switch; undefined if there is none. Throws `already_running` and `switch_pending`. */
export function finishPending(project: string): Switch | undefined {
  const paths = projectPaths(project);
  if (!existsSync(paths.pendingSwitch)) return undefined;
  ensureStateFolder(paths.stateDir);
  const lock = lockForSwitch(paths);
  try {
    return finishSwitch(project);
  } finally {
    lock.close();
  }
}

function look({ project, environment, name }: RestoreRequest): { readonly places: Places; readonly source: Source } {
  const { filename } = readStatePlace({ project, mode: 'development', environment });
  const places = placesOf(project, filename);
  if (name !== undefined) return { places, source: checkpointSource(project, name) };
  const { recovery } = loadConfig({ project, mode: 'development', environment, servesNothing: true }).config;
  return { places, source: undoSource(project, { now: Date.now(), days: recovery.replacedDays }) };
}

type Point = ((name: string) => void | Promise<void>) | undefined;

async function stageAndPrepare(
  options: RestoreOptions,
  { places, source, point }: { readonly places: Places; readonly source: Source; readonly point: Point },
): Promise<{ readonly plan: Switch; readonly restored: Restored }> {
  const { project } = options;
  const { staging } = places;
  const present = openPresent(places, true);
  try {
    const now = Date.now();
    const plan = planRestore({ ...options, places, source, now }, present);
    refuseOutdated(plan, options.digest);
    const open = openItems(plan, options);
    await refuseWithoutRoom(projectPaths(project).stateDir, sizeOf(join(source.folder, CHECKPOINT_FILES.database)));
    const { mediaDir } = projectPaths(project);
    const media = await stage({ project, source, to: staging, mediaDir, onProgress: options.onProgress });
    if (FAILPOINTS) await point?.('restore.staged');
    const name = takeNumber(project, 'replaced');
    const lost = plan.lost?.events ?? 0;
    const state = plan.unreadable === null ? present.state : undefined;
    const compared = prepare(options, { places, source, state, name, lost, now, open });
    present.close(); // its WAL and index are moved with it
    makeFolders({ project, name, source, now, mediaDir, hasMedia: media.length > 0 });
    if (FAILPOINTS) await point?.('restore.prepared');
    moveMedia(media, { staging, mediaDir });
    const renames = renamesOf(places, name);
    const isReplaced = renames.some(({ to }) => to.includes(join('replaced', name)));
    const { code, release } = options;
    const switched = code === undefined ? { renames: [], leftovers: [] } : codeRenames(code);
    return {
      plan: {
        purpose: release === undefined ? source.purpose : 'rollback',
        names: { source: source.name, replaced: name, ...(release === undefined ? {} : { release }) },
        renames: [...renames, ...switched.renames],
        leftovers: [switchPath(project, staging), ...switched.leftovers],
      },
      restored: {
        name: source.name,
        replaced: isReplaced ? name : null,
        lost,
        carried: carriedOf(compared),
        notHeld: compared?.notHeld ?? {},
      },
    };
  } catch (error) {
    if (!existsSync(projectPaths(project).pendingSwitch)) rmSync(staging, { recursive: true, force: true });
    throw error;
  } finally {
    present.close();
  }
}

function prepare(
  { carry, project }: RestoreOptions,
  of: {
    readonly places: Places;
    readonly source: Source;
    /** The state that is replaced, if it can be read. */
    readonly state: State | undefined;
    readonly name: string;
    readonly lost: number;
    readonly now: number;
    readonly open: 'handle' | 'drop';
  },
): Compared | undefined {
  const { places, source, state, name: replaced, lost, now, open } = of;
  const { purpose, name, id: sourceId } = source;
  const entry = { purpose, source: name, sourceId, replaced, lost };
  const file = join(places.staging, CHECKPOINT_FILES.database);
  const folder = source.folder;
  // The parts of a replaced state have no digest that would tell.
  if (purpose === 'undo' && !isWhole(file))
    throw damagedDatabase({ project, name, folder }, 'SQLite finds faults in its pages');
  try {
    return prepareDatabase({ file, replaced: state, carry, open, now, entry });
  } catch (error) {
    if (error instanceof SvcError) throw error;
    if (!isWhole(file)) throw damagedDatabase({ project, name, folder }, error);
    throw new SvcError('refused', `the state of ${name} cannot be prepared: ${messageOf(error)}`, {
      cause: error,
      hint: `nothing was changed in ${project}; \`--no-carry\` restores without the outcomes of the present state`,
    });
  }
}

function isWhole(file: string): boolean {
  let database: Database | undefined;
  try {
    database = openReadOnly(file);
    return isSound(database);
  } catch {
    return false;
  } finally {
    database?.close();
  }
}

function refuseOutdated({ digest, name }: RestorePlan, agreed: string): void {
  if (digest === agreed) return;
  throw new SvcError('conflict', `the state has changed since the plan of ${name} was made: nothing was restored`, {
    hint: `svc checkpoint restore ${name} --dry-run prints the plan as it is now: ${digest}`,
  });
}

/** Where nothing comes along, an operator says what becomes of open items. */
function openItems({ open, name }: RestorePlan, { open: given }: RestoreOptions): 'handle' | 'drop' {
  if (given !== undefined || open === null || open.items === 0) return given ?? 'handle';
  throw new SvcError('usage', `${name} has ${open.items} open items, and nobody knows what became of them since`, {
    hint: '--open handle handles them again after the resume; --open drop gives them up',
  });
}

/** The folder of the replaced state with its record, and the folders that the new state needs: all on the disk before the switch is decided. */
function makeFolders(of: {
  readonly project: string;
  readonly name: string;
  readonly source: Source;
  readonly now: number;
  readonly mediaDir: string;
  readonly hasMedia: boolean;
}): void {
  const { project, name, source, now, mediaDir, hasMedia } = of;
  const { stateDir, replacedDir, dataDir } = projectPaths(project);
  mkdirSync(join(replacedDir, name), { recursive: true, mode: 0o700 });
  const record = { id: uuidv7(now), name, at: new Date(now).toISOString(), by: source.name };
  writeFileAtomic(join(replacedDir, name, REPLACED_RECORD), stableJson(record));
  syncFolder(replacedDir);
  syncFolder(stateDir);
  mkdirSync(hasMedia ? mediaDir : dataDir, { recursive: true });
  syncFolder(dataDir);
  syncFolder(project);
}

/** First the present state moves aside, then the new one comes. */
function renamesOf({ project, staging, replaced, restored }: Places, name: string): readonly Rename[] {
  const path = (absolute: string): string => switchPath(project, absolute);
  const { replacedDir } = projectPaths(project);
  const aside = replaced
    .filter(({ live }) => existsSync(live))
    .map((piece) => ({ from: path(piece.live), to: path(join(replacedDir, name, piece.name)) }));
  const come = restored
    .filter((piece) => existsSync(join(staging, piece.name)))
    .map((piece) => ({ from: path(join(staging, piece.name)), to: path(piece.live) }));
  return [...aside, ...come];
}
