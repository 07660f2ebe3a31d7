// Scheduled jobs, for an operator to read and change.
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';
import type { Shown } from './items-api.ts';

export interface JobChange {
  readonly caller: Caller;
  /** The revision of the file that the caller saw. */
  readonly revision: string | undefined;
}

export interface JobsApi {
  /** `texts` false: without actions and titles. */
  list(texts: boolean): Promise<Shown>;
  /** Throws `not_found`. The revision is that of the file. */
  show(id: string, texts: boolean): Promise<{ readonly job: Shown; readonly revision: string }>;
  /**
   * Adds or replaces a job. Throws `invalid_request` with paths, `conflict`, `precondition_failed`, and `refused` if its target is not there and
   * `needsTarget` is set.
   */
  put(
    id: string,
    entry: Readonly<Record<string, unknown>>,
    change: JobChange & { readonly needsTarget: boolean; readonly keep: Keep<ChangedJob> },
  ): Promise<ChangedJob>;
  remove(id: string, change: JobChange & { readonly keep: Keep<ChangedJob> }): Promise<ChangedJob>;
  setPaused(id: string, paused: boolean, change: JobChange & { readonly keep: Keep<ChangedJob> }): Promise<ChangedJob>;
  /** Starts a run now. Throws `not_found`, and `conflict` beside an open run. */
  run(
    id: string,
    of: { readonly caller: Caller; readonly keep: Keep<{ readonly runId: string }> },
  ): Promise<{ readonly runId: string }>;
  /** Runs, newest first. `id` undefined: of all jobs. `texts` false: without reasons. */
  runs(
    id: string | undefined,
    page: { readonly after: string | undefined; readonly limit: number; readonly texts: boolean },
  ): Promise<Shown>;
}

/** `job`: undefined after a removal. `revision`: of the file, as in its ETag. */
export interface ChangedJob {
  readonly job: Shown | undefined;
  readonly revision: string;
  readonly isNew: boolean;
}
