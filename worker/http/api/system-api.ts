// The host itself: readiness, status, restart, reload, configuration, logs, metrics.
import type { ReadinessReport } from '../../../shared/api/serving/readiness.ts';
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface ProcessStatus {
  readonly [field: string]: unknown;
}

export interface NextGeneration {
  readonly generation: number;
  /** Warnings about its accounts that need no request to their platforms. */
  readonly warnings: readonly string[];
}

/** A new generation, or `restarts` if the change needs a new process. */
export type Reloaded = NextGeneration | 'restarts';

export interface ReloadOptions {
  readonly orRestart: boolean;
  /** Called when the reload's turn has come. False throws `precondition_failed`. Left out: always true. */
  readonly isMeant?: () => boolean;
  readonly keep?: Keep<Reloaded>;
}

/** The host itself, as routes see it. Errors for clients are thrown as SvcError. */
export interface SystemApi {
  ready(): boolean;
  readiness(): ReadinessReport;
  status(): Promise<ProcessStatus>;
  /** Throws `no_restart_owner` or `too_many_requests`; otherwise the drain begins after the answer. */
  requestRestart(caller: Caller, keep?: Keep<'restarts'>): Promise<void>;
  reload(caller: Caller, options: ReloadOptions): Promise<NextGeneration>;
  plugins(): {
    readonly plugins: readonly (Readonly<Record<string, unknown>> & { readonly capabilities: readonly string[] })[];
    /** Handlers, in the order in which they are asked about a message. */
    readonly order: readonly (Readonly<Record<string, unknown>> & { readonly capability: string })[];
  };
  /** Effective configuration, secrets masked, with the source of each value. */
  config(): Readonly<Record<string, unknown>>;
  logs(options: {
    readonly lines: number;
    readonly level: string | undefined;
    readonly endpoint: string | undefined;
    readonly since: string | undefined;
  }): Promise<readonly unknown[]>;
  /** Prometheus text exposition format 0.0.4. */
  metrics(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** The serving generation. If the newest configuration is not served, the reason too. */
  serving(): {
    readonly generation: number | null;
    readonly lastFailure?: { readonly code: string; readonly reason: string | null } | null;
  };
  /** Throws `endpoint_unavailable` while no generation serves. */
  refuseUnlessServing(): void;
}
