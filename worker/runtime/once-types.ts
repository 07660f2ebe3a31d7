// Arguments and results of the worker's one-shot tasks, which commands run.
import type { CheckedAccount } from '../../shared/api/account-check.ts';
import type { ConfigFault } from '../../shared/config/fault.ts';
import type { LoadedConfig } from '../../shared/config/load.ts';
import type { Mode } from '../../shared/config/mode.ts';
import type { ErrorCode } from '../../shared/error-codes.ts';
import type { Log } from '../../shared/log/logger.ts';
import type { SvcError } from '../../shared/svc-error.ts';
import type { MissingTarget } from '../jobs/job-item.ts';

export interface TaskOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the process if plugin code loops for ever. Left out: not watched. */
  readonly end?: (error: SvcError) => void;
  /** Gets the secrets before code of a plugin sees them. */
  readonly secrets?: (texts: readonly string[]) => void;
}

export interface CheckOptions extends TaskOptions {
  /** Loads no code of the project or of packages: a process that is started next does. Their keys are not judged. */
  readonly builtInOnly?: true;
}

export interface OnceFault {
  /** Plugin, endpoint, selector, or the path of a key. */
  readonly component: string;
  readonly code?: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

/** The output of `runtime start --once`. If the assembly failed, its lists are empty and `generation` is null. */
export interface OnceReport {
  /** Everything was assembled, and all readiness requirements are met. */
  readonly ok: boolean;
  /** Each fault names a plugin, an endpoint or a selector. */
  readonly faults: readonly OnceFault[];
  /** The configuration itself is invalid and nothing was assembled; otherwise null. */
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string | null } | null;
  readonly warnings: readonly string[];
  readonly mode: Mode;
  /** `project`, `configVersion` and `generation` are null if the configuration cannot be read. */
  readonly project: string | null;
  readonly configVersion: string | null;
  /** The number in the database in memory: 1. */
  readonly generation: number | null;
  readonly plugins: readonly object[];
  readonly capabilities: readonly { readonly id: string; readonly kind: string }[];
  readonly endpoints: readonly {
    readonly id: string;
    readonly owner: string;
    readonly name: string;
    readonly enabled: boolean;
    readonly adapter: string;
  }[];
  /** Cron handlers of plugins, and scheduled jobs as `job/<id>`. `next` is null if a job never runs. */
  readonly jobs: readonly {
    readonly id: string;
    readonly at: string;
    readonly timezone: string;
    readonly next: string | null;
    /** Of a scheduled job: its target is not in the generation, so its runs would fail. */
    readonly missing?: MissingTarget;
  }[];
  /** Resources that were opened and closed. */
  readonly resources: readonly string[];
  readonly readiness: readonly { readonly component: string; readonly met: boolean; readonly reason: string }[];
  /** The project's own database, read from its bytes. `refused`: a start would not open it. */
  readonly database: {
    readonly file: string;
    readonly state: 'absent' | 'current' | 'behind' | 'refused';
    readonly applied?: readonly string[];
    readonly pending?: readonly string[];
    readonly reason?: string;
  } | null;
  /** Problems that would only occur in production. */
  readonly production: readonly OnceFault[];
}

/** Assembles all plugins and reports. */
export type AssembleOnce = (
  options: TaskOptions & { readonly log: Log; readonly loaded: LoadedConfig },
) => Promise<OnceReport>;

/** Plugins as a start in production would find them. */
export interface PluginsLook {
  readonly missing: readonly { readonly message: string; readonly fix: string }[];
  /** A warning for each plugin with sources newer than its compiled code. */
  readonly stale: readonly string[];
}

export interface CheckedProject {
  readonly loaded: LoadedConfig;
  /** Warnings of the configuration and of plugins that could not be assembled. */
  readonly warnings: readonly string[];
  /** Accounts that can never work, by their adapters' own checks. The others are served without them. */
  readonly accounts: readonly ConfigFault[];
  /** Names of variables that hold a secret, or may hold one. */
  readonly secretVariables: readonly string[];
}

export interface EndpointCheckOptions extends TaskOptions {
  /** An account, as `slot~id` or with its owner, or a slot for all its accounts. */
  readonly endpoint: string;
  /** Time limit per account. */
  readonly limitMs: number;
}

export type EndpointCheck =
  | { readonly kind: 'unknown'; readonly names: readonly string[] }
  /** The slot belongs to a plugin, which has no accounts. */
  | { readonly kind: 'no accounts' }
  | { readonly kind: 'checked'; readonly accounts: AsyncIterable<CheckedAccount> };

/** Sends requests to platforms. The only task that uses the network. */
export type CheckAccounts = (
  options: EndpointCheckOptions & { readonly loaded: LoadedConfig },
) => Promise<EndpointCheck>;
