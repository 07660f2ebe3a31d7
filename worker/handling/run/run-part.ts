// A part of the host whose calls are effects of a run: it is made anew for each run.
import type { Capability } from '../plan/capabilities.ts';
import type { Cause } from './cause.ts';
import type { Effect } from './run.ts';

/** What a part may know of the run, and do in it. */
export interface RunSurface {
  readonly capability: Capability;
  readonly cause: Cause;
  /** The person who wrote is an operator of the host, or a scheduled job runs the command. */
  readonly isOperator: boolean;
  /** A key for the next call, the same on each attempt. */
  nextKey(): string;
  /** Throws where the context may not be used, as inside `once`. */
  open(): void;
  effect(effect: Effect): void;
}
export type RunPart = (run: RunSurface) => object;
