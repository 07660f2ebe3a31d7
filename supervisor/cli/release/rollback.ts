// The way back of a release: code, lockfile, configuration and data of before, in one switch.
//
// Whatever the new version has made of the data since is taken back with it. It is noted in the record before the switch, with the name of the state that
// is replaced: a kill loses no word of it, and the next try knows what was done.
import { existsSync, rmSync } from 'node:fs';
import { projectPaths } from '../../../shared/files/paths.ts';
import type { ReleaseRecord, TakenBack } from '../../../shared/recovery/release-record.ts';
import { isEnded, writeRelease } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { takenBackText } from '../output/restore-text.ts';
import { readRestorePlan, refuseUnmovable, restore, type switchCode } from '../start/worker-entry.ts';
import { makeFormer } from './check-tree.ts';
import { isHostRunning, startHost, stopHost } from './owner.ts';
import { notePause, operatorsPause, reopen, reopenRestored, withPause } from './pause.ts';
import { moveHead } from './repository.ts';
import { removeReplaced, type Step, stored } from './steps.ts';
import { callSvc, type SvcCaller, treeOptions } from './svc-call.ts';
import { failedTree, nextTree, previousTree } from './tree.ts';
import { stayingEntries } from './untracked.ts';

/**
 * Goes back to code, lockfile, configuration and data of before, in one switch. Until `observe` nothing is lost: all that came was parked. Ends with a
 * host that serves, unless the host of before does not get ready: then it throws `refused`, and a second rollback goes on from there.
 */
export async function rollback(step: Step, readySeconds: number): Promise<ReleaseRecord> {
  const { caller, record } = step;
  const { project } = caller;
  const kept = await operatorsPause(caller, record);
  const { name } = record;
  const [next, previous, failed] = [nextTree(project, name), previousTree(project, name), failedTree(project, name)];
  const hasRun = existsSync(failed) || (existsSync(previous) && !existsSync(next));
  if (!hasRun) {
    // A start that was cut has stopped the host.
    if (record.state === 'checked' && !(await isHostRunning(caller)))
      refuseNotReady(await startHost(caller, { keeper: record, tree: project, seconds: readySeconds }));
    await reopen(step, kept);
    return ended(step, record);
  }
  const noted = withPause(record, kept);
  const taken = await goBack({ ...step, record: noted }, { previous, failed, readySeconds });
  const { commit } = record.before;
  const note =
    record.source.kind === 'commit' && commit !== null ? await moveHead(commit, treeOptions(caller)) : undefined;
  if (note !== undefined) step.say(note);
  refuseNotReady(await startHost(caller, { keeper: record, tree: project, seconds: readySeconds }));
  await reopenRestored(step, kept);
  return ended(step, { ...noted, ...taken });
}

function refuseNotReady(fault: string | undefined): void {
  if (fault === undefined) return;
  throw new SvcError('refused', `the version of before is back, but did not get ready: ${fault}`, {
    hint: 'svc runtime status says why; then svc release rollback once more, which ends it',
  });
}

/** The trees go last: which of them lie there tells the next rollback how far one came that was cut. */
async function ended(step: Step, record: ReleaseRecord): Promise<ReleaseRecord> {
  const rolledBack = stored(step, record, 'rolled_back');
  await removeTrees({ ...step, record: rolledBack });
  return rolledBack;
}

/** Removes what an ended rollback leaves. */
export async function removeTrees(of: Omit<Step, 'actor'>): Promise<void> {
  const { caller, record } = of;
  rmSync(nextTree(caller.project, record.name), { recursive: true, force: true });
  for (const treeOf of [previousTree, failedTree]) await removeReplaced(of, treeOf(caller.project, record.name));
}

/** Where the new version runs, and somebody has removed what ran before from the folder of the release, that is made anew. */
export async function ensureFormer({ caller, record, say }: Omit<Step, 'actor'>): Promise<void> {
  const { name, state, source } = record;
  const [next, previous, failed] = [nextTree, previousTree, failedTree].map((treeOf) => treeOf(caller.project, name));
  const isThere = [next, previous, failed].some((tree) => existsSync(tree ?? ''));
  if (isThere || state === 'begun' || source.kind === 'image' || isEnded(record)) return;
  say('what ran before was removed: it is made anew');
  await makeFormer(caller, record, say);
}

/** Stops the host, and brings code and data of before. Where that is refused, the host starts again as it was. */
async function goBack(
  { caller, record, say }: Step,
  {
    previous,
    failed,
    readySeconds,
  }: { readonly previous: string; readonly failed: string; readonly readySeconds: number },
): Promise<Pick<ReleaseRecord, 'rollback'>> {
  const { project } = caller;
  const { name, restorePoint, rollback: known } = record;
  if (!existsSync(previous)) {
    await stopHost(caller, record); // a former try has switched
    say(`code and data are those of ${restorePoint} again`);
    return known === undefined ? {} : { rollback: known };
  }
  const staying = await stayingEntries({ ...record, comes: previous }, treeOptions(caller));
  const code = { project, environment: caller.context.env, name, aside: failed, comes: previous, staying };
  await refuseUnmovable(code);
  await readRestorePlan(planOf(caller, record)); // refused while the host still serves
  await stopHost(caller, record);
  try {
    const taken = await restoreData(caller, record, code);
    say(`code and data are those of ${restorePoint} again`);
    return { rollback: taken };
  } catch (error) {
    if (existsSync(previous) && !existsSync(projectPaths(project).pendingSwitch))
      await startHost(caller, { keeper: record, tree: project, seconds: readySeconds });
    throw error;
  }
}

/** The rollback by the svc of before: the files of this command were moved, and the new svc may be what is broken. */
export async function rollbackByFormer({ caller, record, say }: Step): Promise<void> {
  await notePause(caller, record);
  const tree = previousTree(caller.project, record.name);
  const { json } = await callSvc(caller, ['release', 'rollback', '--yes'], { tree });
  const { rollback: taken } = (json ?? {}) as Pick<ReleaseRecord, 'rollback'>;
  const text = taken && takenBackText(taken);
  if (text !== undefined) say(text);
}

/** Open items of the restore point are handled, also where nothing comes along: that is better than to lose them. */
const planOf = ({ project, context }: SvcCaller, { restorePoint }: Pick<ReleaseRecord, 'restorePoint'>) =>
  ({ project, environment: context.env, name: restorePoint, carry: true, open: 'handle' }) as const;

/** The outcomes of the time since come along: nothing is handled or sent twice. Returns what does not. */
export async function restoreData(
  caller: SvcCaller,
  record: ReleaseRecord,
  code?: Parameters<typeof switchCode>[0],
): Promise<TakenBack> {
  const request = planOf(caller, record);
  const { digest, lost, unreadable } = await readRestorePlan(request);
  const takenBack = (replaced: string | null): TakenBack => ({ replaced, lost, unreadable });
  const beforeSwitch = (replaced: string | null): void =>
    writeRelease(caller.project, { ...record, rollback: takenBack(replaced) });
  const done = await restore({ ...request, digest, release: record.name, code, beforeSwitch });
  return takenBack(done.replaced);
}
