// Finds a checkpoint by its name, and names the one to take instead of a damaged one.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { projectPaths } from '../../../shared/files/paths.ts';
import { CHECKPOINT_NAME, checkpointFolder, verificationFile } from '../../../shared/recovery/layout.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** Its folder. Throws `usage`, `not_found`. */
export function namedCheckpoint(project: string, name: string): string {
  if (!CHECKPOINT_NAME.test(name))
    throw new SvcError('usage', `${JSON.stringify(name)} is no name of a checkpoint`, {
      hint: 'Names are c1, c2 and so on: `svc checkpoint list`',
    });
  const folder = checkpointFolder(project, name);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new SvcError('not_found', `there is no checkpoint ${name}`, {
    hint: '`svc checkpoint list` shows those that are there',
  });
}

export interface GoodCheckpoint {
  readonly name: string;
  readonly level: 'checked' | 'rehearsed';
}

/** The newest one that was rehearsed, else the newest that was checked. */
export function newestGood(project: string, except: string): GoodCheckpoint | undefined {
  const good = namesIn(project)
    .filter((name) => name !== except)
    .toSorted((a, b) => Number(b.slice(1)) - Number(a.slice(1)))
    .flatMap((name): readonly GoodCheckpoint[] => {
      const level = goodLevel(project, name);
      return level === undefined ? [] : [{ name, level }];
    });
  return good.find(({ level }) => level === 'rehearsed') ?? good[0];
}

function goodLevel(project: string, name: string): GoodCheckpoint['level'] | undefined {
  try {
    const { ok, level } = JSON.parse(
      readFileSync(verificationFile(project, name), 'utf8'),
    ) as Partial<GoodCheckpoint> & {
      readonly ok?: unknown;
    };
    return ok === true && (level === 'checked' || level === 'rehearsed') ? level : undefined;
  } catch {
    return undefined; // never verified
  }
}

function namesIn(project: string): readonly string[] {
  try {
    return readdirSync(projectPaths(project).checkpointsDir).filter((name) => CHECKPOINT_NAME.test(name));
  } catch {
    return [];
  }
}

export function insteadOf(project: string, name: string): string {
  const good = newestGood(project, name);
  return good === undefined
    ? 'No other checkpoint was verified: `svc checkpoint list`, then `svc checkpoint verify <name>`.'
    : `The newest good one is ${good.name} (${good.level}).`;
}

export const damagedCheckpoint = (project: string, name: string, why: string): SvcError =>
  new SvcError('checkpoint_damaged', `checkpoint ${name} is damaged: ${why}`, { hint: insteadOf(project, name) });
