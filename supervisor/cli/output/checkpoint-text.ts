// The newest good checkpoint, for `runtime status`. Read from its folder, so that it is told whatever answers.
import { storedCheckpoints } from '../../../shared/recovery/stored-checkpoints.ts';
import { waitText } from '../../../shared/time/wait-text.ts';

export interface NewestCheckpoint {
  readonly name: string;
  readonly at: string;
  readonly level: string;
  readonly verifiedAt: string | null;
}

export function newestCheckpoint(project: string): NewestCheckpoint | null {
  const newest = storedCheckpoints(project).find(({ fault }) => fault === undefined);
  if (newest?.manifest === undefined) return null;
  const { name, level, manifest, verification } = newest;
  return { name, at: manifest.createdAt, level, verifiedAt: verification?.at ?? null };
}

export function checkpointText(newest: NewestCheckpoint | null): string {
  const name = 'checkpoint'.padEnd(11);
  if (newest === null) return `${name} none: svc checkpoint create`;
  const ageOf = (time: string): string => waitText(Date.now() - Date.parse(time));
  const proven = newest.verifiedAt === null ? 'not verified' : `${newest.level} ${ageOf(newest.verifiedAt)} ago`;
  return `${name} ${newest.name}, ${ageOf(newest.at)} old, ${proven}`;
}
