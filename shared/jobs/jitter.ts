// Spreads jobs that are due at one time. The delay comes from a digest of job and due time, so it is the same on each host and after each restart.
import { createHash } from 'node:crypto';
import type { DueTimes } from './due-times.ts';
import type { Job } from './job.ts';

/** Milliseconds after `due`: at most the job's jitter, and less than half the distance to the next due time, so the order stays. */
export function jitterOf({ id, jitterMs }: Pick<Job, 'id' | 'jitterMs'>, due: number, times: DueTimes): number {
  if (jitterMs === 0) return 0;
  const next = times.next(due);
  const most = next === undefined ? jitterMs : Math.min(jitterMs, Math.floor((next - due) / 2));
  const digest = createHash('sha256').update(`${id}\n${due}`).digest();
  return Math.floor((digest.readUIntBE(0, 6) / 2 ** 48) * most);
}
