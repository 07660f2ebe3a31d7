// The host itself: readiness, status, restart, reload, configuration, logs, metrics.
import type { ReadinessReport } from '../../../shared/api/readiness.ts';
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface ProcessStatus {
  readonly [field: string]: unknown;
}

export interface NextGeneration {
  readonly generation: number;
  /** What can be said of its accounts without asking their platforms. */
  readonly warnings: readonly string[];
}

/** Another generation; or, where it cannot take a change in, another process. */
export type Reloaded = NextGeneration | 'restarts';

export interface ReloadOptions {
  readonly orRestart: boolean;
  /** Asked when its turn has come; false: `precondition_failed`. Left out: always. */
  readonly isMeant?: () => boolean;
  readonly keep?: Keep<Reloaded>;
}

/** What routes ask of the host itself. Failures that a client should read are thrown as SvcError. */
export interface SystemApi {
  ready(): boolean;
  readiness(): ReadinessReport;
  status(): Promise<ProcessStatus>;
  /** Refuses with `no_restart_owner` or `too_many_requests`; otherwise the drain begins after the answer. */
  requestRestart(caller: Caller, keep?: Keep<'restarts'>): Promise<void>;
  reload(caller: Caller, options: ReloadOptions): Promise<NextGeneration>;
  plugins(): {
    readonly plugins: readonly (Readonly<Record<string, unknown>> & { readonly capabilities: readonly string[] })[];
    /** Handlers in the order in which they are asked about what arrives. */
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
  /** The generation that serves, and why the newest configuration does not, where that is so. */
  serving(): {
    readonly generation: number | null;
    readonly lastFailure?: { readonly code: string; readonly reason: string | null } | null;
  };
  /** Throws `endpoint_unavailable` while no generation serves. */
  refuseUnlessServing(): void;
}
