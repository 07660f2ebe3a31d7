// One-shot work of the worker's code, run by a command in its own process: no lock, no port, no socket, nothing left behind.
import type { CheckedAccount } from '../shared/api/account-check.ts';
import type { ConfigFault } from '../shared/config/fault.ts';
import type { Untrusted } from '../shared/config/file-trust.ts';
import { type LoadedConfig, loadConfig } from '../shared/config/load.ts';
import type { Mode } from '../shared/config/mode.ts';
import { ERRORS, type ErrorCode } from '../shared/error-codes.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { newRuntimeId } from '../shared/identifiers.ts';
import { createLog, type Log } from '../shared/logger.ts';
import { SecretRegistry } from '../shared/redaction.ts';
import { coerceError, type SvcError } from '../shared/svc-error.ts';
import type { StoredSchema } from './database/stored-schema.ts';
import type { Page, PageRequest } from './http/host-port.ts';

export interface TaskModule {
  checkProject(options: TaskOptions): Promise<CheckedProject>;
  assembleOnce(options: TaskOptions): Promise<OnceReport>;
  checkEndpoint(options: EndpointCheckOptions): Promise<EndpointCheck>;
  /** Of what is told to `secrets`: masks a text. */
  newSecrets(): Pick<SecretRegistry, 'add' | 'mask'>;
  /** What a start would find in that file. Nothing is opened by SQLite, nothing is written. */
  storedSchema(file: string): Promise<StoredSchema>;
  /** Undefined where there is no database yet. */
  openStoredItems(options: StoredItemsOptions): Promise<StoredItems | undefined>;
  /** Files that others can change, of the project and of its plugins. No code of plugins runs. */
  untrustedFiles(options: TaskOptions): Promise<readonly Untrusted[]>;
}

export interface StoredItemsOptions {
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type StoreName = 'inbox' | 'outbox';
type StoredItem = Readonly<Record<string, unknown>>;

/** Inbox and outbox of a host that does not answer. Each call opens the file and closes it. */
export interface StoredItems {
  readonly file: string;
  page(store: StoreName, request: Omit<PageRequest, 'texts'>): Promise<Page>;
  show(store: StoreName, id: string): Promise<StoredItem>;
  /** Of no revision: as it is now. */
  change(
    store: StoreName,
    id: string,
    change: {
      readonly action: 'replay' | 'hold' | 'drop';
      readonly revision: string | undefined;
      readonly reason?: string | undefined;
      readonly answer?: 'again' | 'done' | undefined;
    },
  ): Promise<StoredItem>;
}

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

/** Reads the configuration as a start would, the keys of plugins included. Throws `config_invalid`, `secret_invalid`. */
export async function checkProject(options: TaskOptions): Promise<CheckedProject> {
  const { project, mode, environment } = options;
  const loaded = loadConfig({ project, mode, environment, servesNothing: true });
  const { checkPlugins } = await import('./runtime/assemble-once.ts');
  const { warnings, ...checked } = await bounded(options, loaded, () => checkPlugins({ ...options, loaded }));
  const { accounts, secretVariables } = checked;
  return { loaded, warnings: [...loaded.warnings, ...warnings], accounts, secretVariables };
}

/** Why a start with the code as it is now would serve nothing; empty where it would. Throws what a plugin refuses of its keys. */
export async function failuresOfCode(options: TaskOptions): Promise<readonly string[]> {
  const loaded = loadConfig(options);
  const { checkPlugins } = await import('./runtime/assemble-once.ts');
  return (await bounded(options, loaded, () => checkPlugins({ ...options, loaded }))).failures;
}

/** Assembles everything once. What is wrong, of the configuration or in the assembly, is in the report. */
export async function assembleOnce(options: TaskOptions): Promise<OnceReport> {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig({ ...options, servesNothing: true });
  } catch (error) {
    const known = coerceError(error);
    if (ERRORS[known.code].exit !== EXIT.config) throw error;
    return (await import('./runtime/once-report.ts')).refusedReport(known, options.mode);
  }
  process.env['TSX_DISABLE_CACHE'] = '1'; // the loader of TypeScript would keep what it compiled in a temporary folder
  const log = createLog({
    destination: 2,
    level: 'warn',
    base: { project: loaded.config.host.name ?? '', runtimeId: newRuntimeId() },
  });
  log.secrets.add(loaded.secrets);
  if (options.secrets !== undefined) log.secrets.follow(options.secrets);
  const once = await import('./runtime/assemble-once.ts');
  try {
    return await bounded(options, loaded, () => once.assembleOnce({ ...options, log, loaded }));
  } finally {
    log.flush();
    await log.drained();
  }
}

export const newSecrets: TaskModule['newSecrets'] = () => new SecretRegistry();

export async function storedSchema(file: string): Promise<StoredSchema> {
  const { readStoredSchema } = await import('./database/stored-schema.ts');
  return readStoredSchema(file);
}

/** Throws what the configuration throws, and what a start would say of the database. */
export const openStoredItems: TaskModule['openStoredItems'] = async (options) =>
  (await import('./stored-items.ts')).openStoredItems(options);

export async function untrustedFiles(options: TaskOptions): Promise<readonly Untrusted[]> {
  const files = await import('./runtime/untrusted-files.ts');
  return files.untrustedFiles(options);
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

/** Throws what the configuration throws, and `plugin_failed` for an adapter that cannot be loaded. */
export async function checkEndpoint(options: EndpointCheckOptions): Promise<EndpointCheck> {
  const loaded = loadConfig({ ...options, servesNothing: true });
  const { checkAccounts } = await import('./runtime/check-accounts.ts');
  return bounded(options, loaded, () => checkAccounts({ ...options, loaded }));
}

/** Plugins are loaded by the work: what they do holds nobody up for ever. */
async function bounded<T>(
  { project, mode, end, secrets }: TaskOptions,
  loaded: LoadedConfig,
  work: () => Promise<T>,
): Promise<T> {
  secrets?.(loaded.secrets);
  if (end === undefined) return work();
  const { endBusyCode } = await import('./runtime/busy-code.ts');
  const stop = endBusyCode({ project, mode, loaded, end });
  try {
    return await work();
  } finally {
    stop();
  }
}
