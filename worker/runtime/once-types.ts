// What one-shot work of the worker's code is asked for and what it gives back; `worker/task.ts` offers it to commands.
import type { CheckedAccount } from '../../shared/api/account-check.ts';
import type { ConfigFault } from '../../shared/config/fault.ts';
import type { LoadedConfig } from '../../shared/config/load.ts';
import type { Mode } from '../../shared/config/mode.ts';
import type { ErrorCode } from '../../shared/error-codes.ts';
import type { Log } from '../../shared/log/logger.ts';
import type { SvcError } from '../../shared/svc-error.ts';

export interface TaskOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the process where code of a plugin runs without an end. Left out: nobody looks. */
  readonly end?: (error: SvcError) => void;
  /** Told the texts of secrets before code of a plugin sees them. */
  readonly secrets?: (texts: readonly string[]) => void;
}

export interface OnceFault {
  /** Plugin, endpoint, selector, or the path of a key. */
  readonly component: string;
  readonly code?: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

/** What `runtime start --once` prints. What could not be assembled is empty, its generation null. */
export interface OnceReport {
  /** Everything was assembled and every requirement of readiness is met. */
  readonly ok: boolean;
  /** Why not, each naming plugin, endpoint or selector. */
  readonly faults: readonly OnceFault[];
  /** The configuration itself is wrong, and nothing was assembled; else null. */
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string | null } | null;
  readonly warnings: readonly string[];
  readonly mode: Mode;
  /** This and the next two are null where the configuration cannot be read. */
  readonly project: string | null;
  readonly configVersion: string | null;
  /** Its number in the database in memory: the first. */
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
  /** What runs at times of its own; `next` is null where it never will. */
  readonly jobs: readonly {
    readonly id: string;
    readonly at: string;
    readonly timezone: string;
    readonly next: string | null;
  }[];
  /** Opened and closed again. */
  readonly resources: readonly string[];
  readonly readiness: readonly { readonly component: string; readonly met: boolean; readonly reason: string }[];
  /** The project's own database, as its bytes show it; `refused`: a start would not open it. */
  readonly database: {
    readonly file: string;
    readonly state: 'absent' | 'current' | 'behind' | 'refused';
    readonly applied?: readonly string[];
    readonly pending?: readonly string[];
    readonly reason?: string;
  } | null;
  /** What would not hold in production. */
  readonly production: readonly OnceFault[];
}

/** The whole tree of plugins, assembled and looked at. */
export type AssembleOnce = (
  options: TaskOptions & { readonly log: Log; readonly loaded: LoadedConfig },
) => Promise<OnceReport>;

export interface CheckedProject {
  readonly loaded: LoadedConfig;
  /** Of the configuration, and of plugins that cannot be assembled for another reason. */
  readonly warnings: readonly string[];
  /** Accounts that can never work by their adapters' own rules: the others are served without them. */
  readonly accounts: readonly ConfigFault[];
  /** Names of variables that hold a secret, or may hold one. */
  readonly secretVariables: readonly string[];
}

export interface EndpointCheckOptions extends TaskOptions {
  /** An account, `slot~id` or with its owner; or a slot, for all of its accounts. */
  readonly endpoint: string;
  /** The most that one account may take. */
  readonly limitMs: number;
}

export type EndpointCheck =
  | { readonly kind: 'unknown'; readonly names: readonly string[] }
  /** A plugin, which has none. */
  | { readonly kind: 'no accounts' }
  | { readonly kind: 'checked'; readonly accounts: AsyncIterable<CheckedAccount> };

/** Asks the platforms: the only work here that uses a network. */
export type CheckAccounts = (
  options: EndpointCheckOptions & { readonly loaded: LoadedConfig },
) => Promise<EndpointCheck>;
