// The steps of a release whose code is an image. svc keeps restore point, record, window and the way back of the data; whatever runs containers
// exchanges the image. Each step says in which image it belongs, and is refused in another one.
//
//   IMAGE-1  The new image differs from the one of before by its commit or by its lockfile, and it is the one that was checked.
//   IMAGE-2  Data of before go back in the image of before alone: another svc would bring them up to its own schema.
//   IMAGE-3  A rollback that was cut behind its switch takes nothing back a second time: its last restore is the one that the record names.
import { listReleases, type ReleasedVersion, type ReleaseRecord } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { answersFromElsewhere } from '../connect/control-client.ts';
import { waitForReady } from '../connect/wait-for-ready.ts';
import { lastRestore } from '../start/worker-entry.ts';
import { DOWNGRADE_HINT } from './begin.ts';
import { rehearsalOf } from './check-tree.ts';
import { imageHere, imageText, isSameImage } from './image-version.ts';
import { isHostRunning } from './owner.ts';
import { operatorsPause, pauseAgain, pauseText, reopen, withPause } from './pause.ts';
import { restoreData } from './rollback.ts';
import { refuseOpenIngress, type Started, type Step, servedVersion, stored } from './steps.ts';
import { callSvc, type SvcCaller } from './svc-call.ts';

/** In a container of the new image, beside the host: its code is what this command runs on. */
export async function checkImage(step: Step): Promise<ReleaseRecord> {
  const { caller, record, say } = step;
  const here = await imageHere(caller);
  if (isSameImage(here, record.before))
    throw new SvcError('refused', `this is not the new image: ${imageText(here)} is the one of before`, {
      hint: 'run this command in a container of the new image, with the same volumes; two images with the same packages are told apart by the COMMIT of their build',
    });
  refuseFormerImage(caller, record, here);
  const startedAt = performance.now();
  await callSvc(caller, ['runtime', 'start', '--once', '--mode', 'test']);
  const assembledAt = performance.now();
  const { json } = await callSvc(caller, rehearsalOf(record.restorePoint));
  const results = {
    once: { ok: true, ms: Math.round(assembledAt - startedAt), detail: null },
    migrate: { ok: true, ms: Math.round(performance.now() - assembledAt), detail: null },
  };
  const { svc, schema } = json ?? {};
  const version: ReleasedVersion = {
    ...here,
    configVersion: null,
    svc: typeof svc === 'string' ? svc : null,
    schema: typeof schema === 'number' ? schema : null,
  };
  say('the new image assembles, and restores the restore point');
  say(`stop the container of before, start ${imageText(here)}, and go on in there`);
  return stored(step, { ...record, results, after: version }, 'checked');
}

/** Data that a newer image has written do not fit one that a finished release has replaced. */
function refuseFormerImage(
  { project }: SvcCaller,
  { before: present }: ReleaseRecord,
  here: Awaited<ReturnType<typeof imageHere>>,
): void {
  const former = listReleases(project).find(
    ({ state, before }) =>
      state === 'finished' &&
      (isSameImage(here, before) || (here.lockfile === before.lockfile && here.lockfile !== present.lockfile)),
  );
  if (former === undefined) return;
  throw new SvcError('downgrade_alone', `${imageText(here)} is what release ${former.name} replaced`, {
    hint: DOWNGRADE_HINT,
  });
}

/** In the container that now runs the new image: waits until the host is ready. */
export async function startImage(step: Step, readySeconds: number): Promise<Started> {
  const { caller, record } = step;
  const here = await imageHere(caller);
  if (record.after === null || !isSameImage(here, record.after))
    throw new SvcError('refused', `this is not the image that was checked: it is ${imageText(here)}`, {
      hint: `stop this container, start ${imageText(record.after ?? here)} with the same volumes, and run this command in there`,
    });
  await refuseOpenIngress(caller);
  const { ready, reasons } = await waitForReady(caller.project, { timeoutMs: readySeconds * 1_000 });
  if (!ready) return { record, fault: reasons.join('; ') };
  const after = { ...record.after, ...(await servedVersion(caller)) };
  return { record: stored(step, { ...record, after }, 'started'), fault: undefined };
}

/** What an operator does with an image that does not get ready, in place of the rollback that svc does of other releases. */
export const notReadyHint = ({ before }: ReleaseRecord): string =>
  `look at it, then svc release start tries again; or stop it, run \`svc release rollback\` once in a container of ${imageText(before)}, and start that`;

/** In a container of the image of before, while no host runs: the data go back. The host of before is started by whatever runs containers. */
export async function rollbackImage(step: Step): Promise<ReleaseRecord> {
  const { caller, record, say } = step;
  const { before, restorePoint } = record;
  const kept = await operatorsPause(caller, record);
  // No step tells whether the new image has run: an operator may have exchanged the container before one.
  if ((record.state === 'begun' || record.state === 'checked') && (await hasNotStarted(step))) {
    await reopen(step, kept);
    return stored(step, record, 'rolled_back');
  }
  await refuseOtherImage(step);
  const noted = withPause(record, kept);
  const rollback = (await isTakenBack(caller, record)) ? record.rollback : await restoreData(caller, noted);
  say(`data are those of ${restorePoint} again`);
  if (kept !== undefined) await pauseAgain(caller, kept);
  const how = kept === undefined ? '' : `, as an operator has set it (${pauseText(kept)}),`;
  say(`start ${imageText(before)}; ingress is paused${how} until: svc ingress resume`);
  return stored(step, { ...noted, ...(rollback === undefined ? {} : { rollback }) }, 'rolled_back');
}

/** The host of before serves in this container. One that answers from another container may be of the new image. */
const hasNotStarted = async ({ caller, record }: Step): Promise<boolean> =>
  (await isHostRunning(caller)) &&
  !answersFromElsewhere(caller.project, { who: 'worker' }) &&
  isSameImage(await imageHere(caller), record.before);

/** IMAGE-3. */
export async function isTakenBack(
  { project, context }: SvcCaller,
  { rollback }: Pick<ReleaseRecord, 'rollback'>,
): Promise<boolean> {
  if (rollback === undefined || rollback.replaced === null) return false;
  return (await lastRestore({ project, environment: context.env })) === rollback.replaced;
}

async function refuseOtherImage({ caller, record: { before } }: Step): Promise<void> {
  const here = await imageHere(caller);
  if (isSameImage(here, before)) return;
  throw new SvcError('refused', `this is not the image of before the release: it is ${imageText(here)}`, {
    hint: `stop the new container, then run this command once in a container of ${imageText(before)}, with the same volumes`,
  });
}
