// Finds a checkpoint by its name, and names the one to take instead of a damaged one.
import { statSync } from 'node:fs';
import { CHECKPOINT_NAME, checkpointFolder } from '../../../shared/recovery/layout.ts';
import { storedCheckpoints } from '../../../shared/recovery/stored-checkpoints.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** Its folder. Throws `usage`, `not_found`. */
export function namedCheckpoint(project: string, name: string): string {
  if (!CHECKPOINT_NAME.test(name))
    throw new SvcError('usage', 'a checkpoint has a name like c12', { hint: 'svc checkpoint list' });
  const folder = checkpointFolder(project, name);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new SvcError('not_found', `there is no checkpoint ${name}`, { hint: 'svc checkpoint list' });
}

/** The newest one that was rehearsed, else the newest that was checked. */
export function insteadOf(project: string, name: string): string {
  const good = storedCheckpoints(project).filter(
    (one) => one.name !== name && one.fault === undefined && one.level !== 'made',
  );
  const newest = good.find(({ level }) => level === 'rehearsed') ?? good[0];
  return newest === undefined
    ? 'No other checkpoint was verified: `svc checkpoint list`, then `svc checkpoint verify <name>`.'
    : `The newest good one is ${newest.name} (${newest.level}).`;
}

export const damagedCheckpoint = (project: string, name: string, why: string): SvcError =>
  new SvcError('checkpoint_damaged', `checkpoint ${name} is damaged: ${why}`, { hint: insteadOf(project, name) });
