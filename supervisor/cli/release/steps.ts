// The steps of a release behind `begin` and `check`. Each leaves a record that says it is done; a step that was cut is done again.
//
// The restore point, the trees and the record lie in `.svc`, which a release never moves. After a switch the files of this command lie elsewhere:
// what runs then is a new program, the svc of the tree that came.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stableJson, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { after } from '../../../shared/recovery/release-machine.ts';
import type { ReleasedVersion, ReleaseRecord } from '../../../shared/recovery/release-record.ts';
import { releaseFolder, windowOf, writeRelease } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { judgeRelease, refuseUnmovable, switchCode } from '../start/worker-entry.ts';
import { checkRestorePoint, checkTree, isChecked, takeAhead } from './check-tree.ts';
import { maskFor } from './masked.ts';
import { startHost, stopHost } from './owner.ts';
import { operatorsPause, reopen } from './pause.ts';
import { moveHead } from './repository.ts';
import { askSvc, failedCall, type SvcCaller, treeOptions } from './svc-call.ts';
import { nextTree, previousTree, takePresentConfig } from './tree.ts';
import { noteCame, removeTree, stayingEntries } from './untracked.ts';

const HOUR_MS = 3_600_000;

export interface Step {
  readonly caller: SvcCaller;
  readonly record: ReleaseRecord;
  readonly actor: string;
  readonly say: (line: string) => void;
}

/** The record behind a step, on disk. */
export const stored = (
  { caller, actor }: Step,
  record: ReleaseRecord,
  state: ReleaseRecord['state'],
): ReleaseRecord => {
  const next = after(record, state, { at: new Date().toISOString(), actor });
  writeRelease(caller.project, next);
  return next;
};

export async function check(step: Step): Promise<ReleaseRecord> {
  const { caller, record, say } = step;
  const ahead = await takeAhead(caller, record);
  if (ahead !== undefined) say('the tree was checked before, and is as it was');
  const { results: checked, tree, lockfile } = ahead ?? (await checkTree(caller, record, say));
  const { results: migrated, svc, schema } = await checkRestorePoint(caller, record, say);
  const results = { ...checked, ...migrated };
  const version: ReleasedVersion = {
    commit: record.source.kind === 'commit' ? record.source.value : null,
    lockfile,
    configVersion: null,
    svc,
    schema,
  };
  return stored(step, { ...record, results, tree, after: version }, 'checked');
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
  const { name, source } = record;
  const [next, previous] = [nextTree(project, name), previousTree(project, name)];
  const isSwitched = existsSync(previous) && !existsSync(next);
  if (!isSwitched && !(await isChecked(caller, record)))
    throw new SvcError('refused', `${next} is not the tree that was checked`, {
      hint: 'svc release rollback, then begin again',
    });
  const code = {
    project,
    environment: caller.context.env,
    name,
    aside: previous,
    comes: next,
    staying: isSwitched ? [] : await stayingEntries({ ...record, comes: next }, treeOptions(caller)),
  };
  if (!isSwitched) {
    await refuseOpenIngress(caller);
    await refuseUnmovable(code);
    await takePresentConfig(next, source, treeOptions(caller));
    noteCame(project, name, next);
  }
  const startedAt = performance.now();
  await stopHost(caller, record);
  if (!isSwitched) await switchCode(code);
  const fault = await startHost(caller, { keeper: record, tree: project, seconds: readySeconds });
  if (fault !== undefined) return { record, fault };
  const ms = Math.round(performance.now() - startedAt);
  say(`the new version is ready, ${(ms / 1_000).toFixed(1)} s after the stop began`);
  const results = { ...record.results, start: { ok: true, ms, detail: null } };
  const after = record.after && { ...record.after, ...(await servedVersion(caller)) };
  const note = source.kind === 'commit' ? await moveHead(source.value, treeOptions(caller)) : undefined;
  if (note !== undefined) say(note);
  return { record: stored(step, { ...record, results, after }, 'started'), fault };
}

/** What the running host says of itself. The svc of the project asks: the files of this command were moved. */
export async function servedVersion(caller: SvcCaller): Promise<Partial<ReleasedVersion>> {
  const { json } = await askSvc(caller, ['runtime', 'status'], { tree: caller.project });
  const { version, configVersion } = json ?? {};
  return {
    ...(typeof version === 'string' ? { svc: version } : {}),
    ...(typeof configVersion === 'string' ? { configVersion } : {}),
  };
}

/** Work that was done since the restore point would be lost by a rollback. */
export async function refuseOpenIngress(caller: SvcCaller): Promise<void> {
  const { json } = await askSvc(caller, ['ingress', 'status']);
  if (json?.['state'] !== 'open') return;
  throw new SvcError('refused', 'ingress was opened since the release began: a rollback would lose what came since', {
    hint: 'svc release rollback, then begin again',
  });
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
    const mask = maskFor({ project: caller.project, env: caller.context.env });
    const word = { acceptedBy: step.actor, reason: mask(reason), at: new Date().toISOString() };
    writeFileAtomic(file, stableJson(word));
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
  const kept = await operatorsPause(step.caller, record);
  const next = stored(step, { ...record, windowUntil }, 'observing');
  await reopen(step, kept);
  return next;
}

/** The record with the verdict on the window as it is now; before that runs, as it was. `keeps`: on the disk too. */
export async function judged(
  { caller, record }: Pick<Step, 'caller' | 'record'>,
  keeps = true,
): Promise<ReleaseRecord> {
  const span = windowOf(record);
  if (span === undefined) return record;
  const now = Date.now();
  const { project, context } = caller;
  const verdict = await judgeRelease({ project, environment: context.env, ...span, now });
  const next = { ...record, verdict: { ...verdict, at: new Date(now).toISOString() } };
  if (keeps) writeRelease(project, next);
  return next;
}

export async function finish(step: Step): Promise<ReleaseRecord> {
  const { caller, record: open } = step;
  const record = stored(step, open, 'finished');
  await removeReplaced(step, previousTree(caller.project, record.name));
  return record;
}

const MOST_NAMED = 5;

/** Removes a tree that was replaced. What is of no version is kept and named: a release deletes no file that only lies there. */
export async function removeReplaced({ caller, record, say }: Omit<Step, 'actor'>, tree: string): Promise<void> {
  const kept = await removeTree(tree, record, treeOptions(caller));
  if (kept.length === 0) return;
  const more = kept.length > MOST_NAMED ? ` and ${kept.length - MOST_NAMED} more` : '';
  say(`of no version, kept in ${relative(caller.project, tree)}: ${kept.slice(0, MOST_NAMED).join(', ')}${more}`);
}
