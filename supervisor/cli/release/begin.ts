// `svc release begin`: pauses ingress, waits until nothing is under way, makes and checks the restore point.
//
// A kill at any point leaves ingress paused and nothing else; a second `begin` goes on. The pause is known again by its reason.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { takeNumber } from '../../../shared/recovery/layout.ts';
import { refusePendingSwitch } from '../../../shared/recovery/pending-switch.ts';
import {
  listReleases,
  openRelease,
  RELEASE_FORMAT,
  type ReleasedVersion,
  type ReleaseRecord,
  writeRelease,
} from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { differsFromFiles } from '../connect/running-configuration.ts';
import { imageHere } from './image-version.ts';
import { isHostRunning, keeperOf } from './owner.ts';
import { pauseForRelease, QUIET, STAYS_PAUSED } from './pause.ts';
import { commitOf, isAncestor, type TreeOptions } from './repository.ts';
import { runningCode } from './running-code.ts';
import { callSvc, type SvcCaller, treeOptions } from './svc-call.ts';
import { hasManifest, lockfileOf, lockfileOfSource, MANIFEST_HINT, type Source, withoutManifest } from './tree.ts';

export interface BeginOptions {
  readonly to: string | undefined;
  readonly from: string | undefined;
  readonly image: boolean;
  readonly actor: string;
  readonly say: (line: string) => void;
}

export async function begin(caller: SvcCaller, { say, actor, ...asked }: BeginOptions): Promise<ReleaseRecord> {
  const { project } = caller;
  refusePendingSwitch(project);
  const open = openRelease(project);
  if (open !== undefined)
    throw new SvcError('conflict', `release ${open.name} is ${open.state}, and there is one at a time`, {
      hint: 'svc release status says what comes next; svc release rollback ends it',
    });
  const tree = treeOptions(caller);
  const source = await sourceOf(asked, tree);
  const commit = await refuseUnfit(source, tree);
  const { keeper, isRunning } =
    source.kind === 'image'
      ? { keeper: { owner: 'image' }, isRunning: await isHostRunning(caller) }
      : await keeperOf(caller);
  if (isRunning && (await differsFromFiles(project)) === true) throw otherFiles('svc release begin');
  say(`ingress is paused: what comes in is stored and waits. Waiting up to ${QUIET} until nothing runs`);
  const operatorPause = await pauseForRelease(caller);
  const restorePoint = await makeRestorePoint(caller, { source, isRunning }).catch((error: unknown) => {
    say(operatorPause !== undefined ? 'ingress stays paused, as it was before' : STAYS_PAUSED);
    throw error;
  });
  say(`restore point ${restorePoint} is made and checked`);
  const record: ReleaseRecord = {
    format: RELEASE_FORMAT,
    name: takeNumber(project, 'release'),
    source,
    state: 'begun',
    steps: [{ state: 'begun', at: new Date().toISOString(), actor }],
    before: {
      ...(await versionAt(caller, restorePoint, commit)),
      ...(source.kind === 'image' ? await imageHere(caller) : {}),
    },
    after: null,
    restorePoint,
    ...keeper,
    tree: null,
    wasPaused: operatorPause !== undefined,
    ...(operatorPause === undefined ? {} : { operatorPause }),
    results: {},
    windowUntil: null,
    verdict: null,
  };
  writeRelease(project, record);
  return record;
}

async function makeRestorePoint(
  caller: SvcCaller,
  { source, isRunning }: { readonly source: Source; readonly isRunning: boolean },
): Promise<string> {
  const made = await callSvc(caller, ['checkpoint', 'create', '--reason', `before a release to ${source.value}`]);
  const name = String(made.json?.['name']);
  if (isRunning) await refuseOtherFiles(caller, name);
  await callSvc(caller, ['checkpoint', 'verify', name, '--quick']);
  return name;
}

export async function sourceOf(
  { to, from, image }: Pick<BeginOptions, 'to' | 'from' | 'image'>,
  tree: TreeOptions,
): Promise<Source> {
  if ([to !== undefined, from !== undefined, image].filter(Boolean).length !== 1)
    throw new SvcError('usage', 'a release takes one of --to COMMIT, --from FOLDER, --image', {
      hint: 'svc release begin --help',
    });
  if (image) return { kind: 'image', value: 'a new image' };
  if (to !== undefined) return commitSource(to, tree);
  return { kind: 'folder', value: folderOf(from ?? '', tree.project) };
}

/** Refused before ingress is paused. */
async function commitSource(name: string, tree: TreeOptions): Promise<Source> {
  const source = { kind: 'commit', value: await commitOf(name, tree) } as const;
  if (await hasManifest(source, tree)) return source;
  throw new SvcError('usage', await withoutManifest(source, tree), { hint: MANIFEST_HINT });
}

function folderOf(given: string, project: string): string {
  const folder = resolve(given);
  if (!existsSync(join(folder, 'package.json')) || !statSync(folder).isDirectory())
    throw new SvcError('usage', `${folder} is no project: it has no package.json`, {
      hint: 'name the folder that holds the new code, its package.json and its package-lock.json',
    });
  if (realpathSync(folder) === realpathSync(project))
    throw new SvcError('usage', '--from names the project itself', { hint: 'name another folder, with the new code' });
  return folder;
}

export const DOWNGRADE_HINT =
  'svc release rollback, or svc checkpoint restore, take code and data back together; else fix forward';

/** Throws `downgrade_alone` and `refused` for code that may not follow on the code that runs. Returns the commit of that. */
export async function refuseUnfit(source: Source, tree: TreeOptions): Promise<string | undefined> {
  const { commit, changed } = await runningCode(tree);
  await refuseDowngrade(source, commit, tree);
  refuseChanged(source, changed);
  return commit;
}

/** Older code, or older packages, do not fit a state that newer code has written: only a rollback takes both back. */
async function refuseDowngrade(source: Source, present: string | undefined, tree: TreeOptions): Promise<void> {
  const hint = DOWNGRADE_HINT;
  if (source.kind === 'commit') {
    if (present !== undefined && present !== source.value && (await isAncestor(source.value, present, tree)))
      throw new SvcError('downgrade_alone', `${source.value.slice(0, 12)} is older than the commit that runs`, {
        hint,
      });
  }
  const lockfile = await lockfileOfSource(source, tree);
  const older = listReleases(tree.project).find(
    ({ state, before }) => state === 'finished' && before.lockfile !== null && before.lockfile === lockfile,
  );
  if (older !== undefined && lockfile !== lockfileOf(tree.project))
    throw new SvcError('downgrade_alone', `its lockfile is the one that release ${older.name} replaced`, { hint });
}

/** What was edited and not committed would vanish with the code that goes. */
function refuseChanged(source: Source, [first, ...more]: readonly string[]): void {
  if (source.kind !== 'commit') return;
  if (first === undefined) return;
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  throw new SvcError('refused', `${first}${others} was changed and is not committed: a release would take it away`, {
    hint: 'commit it, or take it back: git status',
  });
}

async function manifestOf({ project }: SvcCaller, checkpoint: string) {
  const { readManifest } = await import('../../../shared/recovery/manifest.ts');
  const { checkpointFolder } = await import('../../../shared/recovery/layout.ts');
  return readManifest(checkpointFolder(project, checkpoint));
}

/**
 * A rollback would bring back files that never ran with these data. The manifest also tells of files that changed while it was made, such as a log
 * among the code: the host says whether they are its own.
 */
async function refuseOtherFiles(caller: SvcCaller, checkpoint: string): Promise<void> {
  const { config } = await manifestOf(caller, checkpoint);
  if (config.isRunning || (await differsFromFiles(caller.project)) === false) return;
  throw otherFiles('svc release begin goes on');
}

const otherFiles = (then: string): SvcError =>
  new SvcError('refused', 'the host runs with another configuration or code than the files of the project say', {
    hint: `svc runtime restart takes the files in, then ${then}; svc checkpoint create names the files`,
  });

/** What a checkpoint says of the code that runs. It knows HEAD, which may be another commit than the one that runs. */
async function versionAt(caller: SvcCaller, checkpoint: string, running: string | undefined): Promise<ReleasedVersion> {
  const { commit, lockfile, config, svc, schema } = await manifestOf(caller, checkpoint);
  return {
    commit: commit === null ? null : (running ?? commit.id),
    lockfile: lockfile?.sha256 ?? null,
    configVersion: config.version,
    svc,
    schema: schema.migrations.at(-1)?.id ?? null,
  };
}
