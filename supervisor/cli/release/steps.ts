// The steps of a release behind `begin` and `check`. Each leaves a record that says it is done; a step that was cut is done again.
//
// The restore point, the trees and the record lie in `.svc`, which a release never moves. After a switch the files of this command lie elsewhere:
// what runs then is a new program, the svc of the tree that came.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stableJson, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { after } from '../../../shared/recovery/release-machine.ts';
import type { ReleasedVersion, ReleaseRecord } from '../../../shared/recovery/release-record.ts';
import { releaseFolder, windowOf, writeRelease } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { judgeRelease, readRestorePlan, restore, switchCode } from '../start/worker-entry.ts';
import { treeOptions } from './begin.ts';
import { checkRestorePoint, checkTree, isChecked, takeAhead } from './check-tree.ts';
import { startHost, stopHost } from './owner.ts';
import { askSvc, callSvc, failedCall, type SvcCaller } from './svc-call.ts';
import { failedTree, lockfileOf, moveHead, nextTree, previousTree } from './tree.ts';

const HOUR_MS = 3_600_000;
const STAYS_PAUSED = 'ingress stays paused, as it was before the release; svc ingress resume opens it';

export interface Step {
  readonly caller: SvcCaller;
  readonly record: ReleaseRecord;
  readonly actor: string;
  readonly say: (line: string) => void;
}

const stored = ({ caller, actor }: Step, record: ReleaseRecord, state: ReleaseRecord['state']): ReleaseRecord => {
  const next = after(record, state, { at: new Date().toISOString(), actor });
  writeRelease(caller.project, next);
  return next;
};

export async function check(step: Step): Promise<ReleaseRecord> {
  const { caller, record, say } = step;
  if (record.source.kind === 'image') return checkImage(step);
  const ahead = takeAhead(caller.project, record);
  if (ahead !== undefined) say('the tree was checked before, and is as it was');
  const { results: checked, tree, lockfile } = ahead ?? (await checkTree(caller, record, say));
  const results = { ...checked, ...(await checkRestorePoint(caller, record, say)) };
  const version: ReleasedVersion = {
    commit: record.source.kind === 'commit' ? record.source.value : null,
    lockfile,
    configVersion: null,
    svc: null,
    schema: null,
  };
  return stored(step, { ...record, results, tree, after: version }, 'checked');
}

/** In the container of the new image: its code is what this command runs on. */
async function checkImage(step: Step): Promise<ReleaseRecord> {
  const { caller, record, say } = step;
  const lockfile = lockfileOf(caller.project);
  if (lockfile === record.before.lockfile)
    throw new SvcError('refused', 'the packages here are those of before: this is not the new image', {
      hint: 'run this command in a container of the new image, with the same volumes',
    });
  const startedAt = performance.now();
  await callSvc(caller, ['runtime', 'start', '--once', '--mode', 'test']);
  await callSvc(caller, ['checkpoint', 'verify', record.restorePoint]);
  say('the new image assembles, and restores the restore point');
  const results = { once: { ok: true, ms: Math.round(performance.now() - startedAt), detail: null } };
  const version: ReleasedVersion = { commit: null, lockfile, configVersion: null, svc: null, schema: null };
  return stored(step, { ...record, results, after: version }, 'checked');
}

export interface Started {
  readonly record: ReleaseRecord;
  /** Why the new version did not get ready; undefined where it serves. */
  readonly fault: string | undefined;
}

/** Stops the host, exchanges the code, starts it: ingress stays paused. */
export async function start(step: Step, readySeconds: number): Promise<Started> {
  const { caller, record, say } = step;
  const { project } = caller;
  const { name, owner, source } = record;
  const [next, previous] = [nextTree(project, name), previousTree(project, name)];
  if (source.kind === 'image') {
    const { ready, reasons } = await imageReady(caller, readySeconds);
    return { record: ready ? stored(step, record, 'started') : record, fault: ready ? undefined : reasons.join('; ') };
  }
  const isSwitched = existsSync(previous) && !existsSync(next);
  if (!isSwitched && !isChecked(project, record))
    throw new SvcError('refused', `${next} is not the tree that was checked`, {
      hint: 'svc release rollback, then begin again',
    });
  const startedAt = performance.now();
  await stopHost(caller, owner);
  if (!isSwitched) await switchCode({ project, environment: caller.context.env, name, aside: previous, comes: next });
  const fault = await startHost(caller, { owner, tree: project, seconds: readySeconds });
  if (fault !== undefined) return { record, fault };
  say(`the new version is ready, ${((performance.now() - startedAt) / 1_000).toFixed(1)} s after the stop began`);
  const note = source.kind === 'commit' ? await moveHead(source.value, treeOptions(caller)) : undefined;
  if (note !== undefined) say(note);
  return { record: stored(step, record, 'started'), fault };
}

async function imageReady({ project }: SvcCaller, seconds: number) {
  const { waitForReady } = await import('../connect/wait-for-ready.ts');
  return waitForReady(project, { timeoutMs: seconds * 1_000 });
}

export interface Accepting {
  /** An operator's word in place of the questions. */
  readonly reason: string | undefined;
  /** `--settle` and `--wait` of `svc accept`. */
  readonly settle: readonly string[];
  readonly wait: string | undefined;
}

/** Asks `svc accept`, whose evidence is kept beside the record. */
export async function accept(step: Step, { reason, settle, wait }: Accepting): Promise<ReleaseRecord> {
  const { caller, record, say } = step;
  const file = join(releaseFolder(caller.project, record.name), 'acceptance.json');
  if (reason !== undefined) {
    writeFileAtomic(file, stableJson({ acceptedBy: step.actor, reason, at: new Date().toISOString() }));
    return stored(step, record, 'accepted');
  }
  const args = [
    'accept',
    ...settle.flatMap((text) => ['--settle', text]),
    ...(wait === undefined ? [] : ['--wait', wait]),
  ];
  const answer = await askSvc(caller, args);
  if (answer.json !== undefined) writeFileAtomic(file, stableJson(answer.json));
  if (answer.code === 0) {
    say('accepted');
    return stored(step, record, 'accepted');
  }
  throw new SvcError(
    'refused',
    `the new version is not accepted: ${answer.notes.at(-1)?.replace(/^not accepted: /, '') ?? failedCall(args, answer).message}`,
    {
      hint: 'svc accept shows each row, --settle ROW=REASON settles an unknown; svc release accept --reason "…" accepts it by your word; svc release rollback goes back',
    },
  );
}

/** Opens ingress: what was parked is handled, and the window begins. */
export async function observe(step: Step, windowHours: number): Promise<ReleaseRecord> {
  const { record } = step;
  const windowUntil = new Date(Date.now() + windowHours * HOUR_MS).toISOString();
  // Written first: once ingress is open, work of the new version exists that a rollback would lose.
  const next = stored(step, { ...record, windowUntil }, 'observing');
  await reopen(step);
  return next;
}

/** Judges the window now; the record keeps the verdict. Undefined before it runs. */
export async function judged({ caller, record }: Pick<Step, 'caller' | 'record'>): Promise<ReleaseRecord> {
  const span = windowOf(record);
  if (span === undefined) return record;
  const now = Date.now();
  const { project, context } = caller;
  const verdict = await judgeRelease({ project, environment: context.env, ...span, now });
  const next = { ...record, verdict: { ...verdict, at: new Date(now).toISOString() } };
  writeRelease(project, next);
  return next;
}

export function finish(step: Step): ReleaseRecord {
  const record = stored(step, step.record, 'finished');
  rmSync(previousTree(step.caller.project, record.name), { recursive: true, force: true });
  return record;
}

/**
 * Goes back to code, lockfile, configuration and data of before, in one switch. Until `observe` nothing is lost: all that came was parked. Ends with a
 * host that serves, unless the host of before does not get ready: then it throws `refused`, and the release is rolled back all the same.
 */
export async function rollback(step: Step, readySeconds: number): Promise<ReleaseRecord> {
  const { caller, record, say } = step;
  const { project } = caller;
  const { name, owner, source } = record;
  const [next, previous, failed] = [nextTree, previousTree, failedTree].map((of) => of(project, name)) as [
    string,
    string,
    string,
  ];
  const hasRun = existsSync(previous) || existsSync(failed) || source.kind === 'image';
  if (!hasRun || (source.kind === 'image' && (record.state === 'begun' || record.state === 'checked'))) {
    rmSync(next, { recursive: true, force: true });
    await reopen(step);
    return stored(step, record, 'rolled_back');
  }
  if (source.kind === 'image') refuseOtherImage(project, record);
  else await stopHost(caller, owner);
  const code = { project, environment: caller.context.env, name, aside: failed, comes: previous };
  if (source.kind === 'image') await restoreData(caller, record);
  else if (existsSync(previous)) await restoreData(caller, record, code);
  say(`code and data are those of ${record.restorePoint} again`);
  const done = stored(step, record, 'rolled_back');
  if (source.kind === 'image') return done;
  const { commit } = record.before;
  const note = source.kind === 'commit' && commit !== null ? await moveHead(commit, treeOptions(caller)) : undefined;
  if (note !== undefined) say(note);
  const fault = await startHost(caller, { owner, tree: project, seconds: readySeconds });
  rmSync(failed, { recursive: true, force: true });
  if (fault !== undefined)
    throw new SvcError('refused', `the version of before is back, but did not get ready: ${fault}`, {
      hint: 'svc runtime status; ingress is paused until: svc ingress resume',
    });
  await reopen(step);
  return done;
}

/** The rollback by the svc of before: the files of this command were moved, and the new svc may be what is broken. */
export async function rollbackByFormer({ caller, record }: Step): Promise<void> {
  const tree = previousTree(caller.project, record.name);
  await callSvc(caller, ['release', 'rollback', '--yes'], { tree });
}

async function reopen({ caller, record, say }: Step): Promise<void> {
  if (record.wasPaused) return say(STAYS_PAUSED);
  // The svc of the project: the files of this command may have been moved.
  await callSvc(caller, ['ingress', 'resume'], { tree: caller.project });
  say('ingress is open: what came meanwhile is handled');
}

/** The outcomes of the time since come along: nothing is handled or sent twice. */
async function restoreData(
  { project, context }: SvcCaller,
  { restorePoint }: Pick<ReleaseRecord, 'restorePoint'>,
  code?: Parameters<typeof switchCode>[0],
): Promise<void> {
  const request = { project, environment: context.env, name: restorePoint, carry: true, open: undefined };
  const { digest } = await readRestorePlan(request);
  await restore({ ...request, digest, code });
}

/** The data of before fit the code of before alone. */
function refuseOtherImage(project: string, { before }: ReleaseRecord): void {
  if (lockfileOf(project) === before.lockfile) return;
  throw new SvcError('refused', 'the packages here are not those of before the release', {
    hint: 'stop the new container, then run this command in one of the former image, with the same volumes',
  });
}
