// A job of `data/schedule-jobs.json` after its check.
import { createHash } from 'node:crypto';

export const JOBS_FILE = 'data/schedule-jobs.json';
export const LARGEST_JOBS = 1_000;
export const JOB_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const ID_SHAPE = 'a-z, 0-9 and "-", at most 63 characters, not beginning with "-"';

/** A conversation of an account. `endpoint` is a full or a short name. */
export interface JobPlace {
  readonly endpoint: string;
  readonly conversation: string;
  readonly thread?: string;
}

export type JobAction =
  | { readonly kind: 'say'; readonly to: JobPlace; readonly text: string }
  | { readonly kind: 'command'; readonly in: JobPlace; readonly line: string }
  | {
      readonly kind: 'item';
      readonly board: string;
      readonly title: string;
      readonly assign: string | undefined;
      /** The deadline, counted from the due time of the run. */
      readonly dueMs: number | undefined;
    };

/** When a job is due. `timezone` is undefined where the file names none. */
export type JobTiming =
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string | undefined }
  | { readonly kind: 'at'; readonly text: string; readonly timezone: string | undefined }
  | { readonly kind: 'every'; readonly everyMs: number; readonly fromMs: number };

export type Missed = 'skip' | 'run_once' | 'run_all';
export type Overlap = 'skip' | 'queue' | 'allow';

export interface Job {
  readonly id: string;
  readonly timing: JobTiming;
  readonly action: JobAction;
  readonly missed: Missed;
  readonly withinMs: number;
  readonly overlap: Overlap;
  readonly jitterMs: number;
  readonly paused: boolean;
  readonly title: string | undefined;
  /** As the file has it, keys that begin with `x-` included. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** The timing with its time zone, or `zone` where the file names none. */
export const inZone = <T extends JobTiming>(timing: T, zone: string): T =>
  timing.kind === 'every' ? timing : { ...timing, timezone: timing.timezone ?? zone };

/** Tells one timing of a job from another. A due row holds it, so that a changed job starts anew. */
export const timingDigest = (timing: JobTiming, zone: string): string =>
  createHash('sha256')
    .update(JSON.stringify(inZone(timing, zone)))
    .digest('hex')
    .slice(0, 32);

/** The account of the action. */
export const placeOf = (action: Exclude<JobAction, { readonly kind: 'item' }>): JobPlace =>
  action.kind === 'say' ? action.to : action.in;
