// One-shot work of the worker's code, run by a command in its own process: no lock, no port, no socket, nothing left behind.
import type { Untrusted } from '../shared/config/checks/file-trust.ts';
import { type LoadedConfig, loadConfig } from '../shared/config/load.ts';
import { ERRORS } from '../shared/error-codes.ts';
import { newRuntimeId } from '../shared/identifiers.ts';
import { createLog } from '../shared/log/logger.ts';
import { SecretRegistry } from '../shared/log/redaction.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import type { Switch } from '../shared/recovery/switch.ts';
import { trySqlite } from '../shared/sqlite.ts';
import { coerceError } from '../shared/svc-error.ts';
import type { StoredSchema } from './database/stored-schema.ts';
import type { StoredIngress } from './host/stored-ingress.ts';
import type { StoredItems } from './host/stored-items.ts';
import type { StoredPlaceOptions } from './host/stored-place.ts';
import type { Exported, ExportOptions } from './recovery/archive/export.ts';
import type { Imported, ImportOptions } from './recovery/archive/import.ts';
import type { Made } from './recovery/checkpoint/make-checkpoint.ts';
import type { StoppedOptions } from './recovery/checkpoint/make-stopped.ts';
import type { Pruned, StoredPruneOptions } from './recovery/checkpoint/remove-checkpoints.ts';
import type { JudgeOptions } from './recovery/release/judge-release.ts';
import type { CodeSwitch } from './recovery/release/switch-code.ts';
import type { Verdict } from './recovery/release/verdict.ts';
import type { RestorePlan } from './recovery/restore/plan.ts';
import type { Restored, RestoreOptions, RestoreRequest } from './recovery/restore/restore.ts';
import type { VerifiedCheckpoint, VerifyCheckpointOptions } from './recovery/verify/verify-checkpoint.ts';
import type {
  CheckedProject,
  CheckOptions,
  EndpointCheck,
  EndpointCheckOptions,
  OnceReport,
  PluginsLook,
  TaskOptions,
} from './runtime/once-types.ts';
import type { Converted } from './workroom/convert.ts';
import type { JournalStore } from './workroom/journal/journal.ts';
import type { Verified } from './workroom/journal/verify.ts';
import type { VerifyOptions } from './workroom/journal/verify-stored.ts';
import type { Head } from './workroom/read-catalog.ts';

export interface TaskModule {
  checkProject(options: CheckOptions): Promise<CheckedProject>;
  assembleOnce(options: TaskOptions): Promise<OnceReport>;
  checkEndpoint(options: EndpointCheckOptions): Promise<EndpointCheck>;
  /** Of what is told to `secrets`: masks a text. */
  newSecrets(): Pick<SecretRegistry, 'add' | 'mask'>;
  /** What a start would find in that file. Nothing is opened by SQLite, nothing is written. */
  storedSchema(file: string): Promise<StoredSchema>;
  /** Undefined where there is no database yet. */
  openStoredItems(options: StoredPlaceOptions): Promise<StoredItems | undefined>;
  /** Ingress of a host that is stopped. Undefined where there is no database yet. */
  openStoredIngress(options: StoredPlaceOptions): Promise<StoredIngress | undefined>;
  /** Proves the journal of the Workroom in the database file, or of an export. */
  verifyWorkroom(options: VerifyOptions): Promise<Verified>;
  /** Moves the journal of a stopped Workroom to the other store. */
  convertWorkroom(options: StoredPlaceOptions & { readonly to: JournalStore }): Promise<Converted>;
  /** Makes all that is derived from the journal anew. */
  rebuildWorkroom(options: StoredPlaceOptions): Promise<Head>;
  /** A checkpoint of a stopped host. */
  makeStopped(options: StoppedOptions): Promise<Made>;
  /** What a restore would do. */
  readRestorePlan(request: RestoreRequest): Promise<RestorePlan>;
  /** Exchanges the code of a stopped host for that of a release. */
  switchCode(of: CodeSwitch): Promise<void>;
  /** Throws `refused` where that could not be carried out. */
  refuseUnmovable(of: CodeSwitch): Promise<void>;
  /** How the released version does since ingress was opened. */
  judgeRelease(options: JudgeOptions): Promise<Verdict>;
  /** Restores the state of a stopped host. */
  restore(options: RestoreOptions): Promise<Restored>;
  /** The state that the last restore has replaced. */
  lastRestore(of: Pick<RestoreRequest, 'project' | 'environment'>): Promise<string | undefined>;
  /** Finishes a switch that was decided; undefined if there is none. */
  finishPending(project: string): Promise<Switch | undefined>;
  /** Restores a checkpoint beside the project, in test mode, and throws the copy away. Code of its plugins runs. */
  verifyCheckpoint(
    options: VerifyCheckpointOptions & Pick<TaskOptions, 'end' | 'secrets'>,
  ): Promise<VerifiedCheckpoint>;
  exportCheckpoint(options: ExportOptions): Promise<Exported>;
  importCheckpoint(options: ImportOptions): Promise<Imported>;
  /** Removes checkpoints by the keys of `recovery`. */
  pruneStored(options: StoredPruneOptions): Promise<Pruned>;
  /** Files that others can change, of the project and of its plugins. No code of plugins runs. */
  untrustedFiles(options: TaskOptions): Promise<readonly Untrusted[]>;
  /** Plugins that are missing or outdated. No code of plugins runs. */
  lookAtPlugins(options: TaskOptions): Promise<PluginsLook>;
}

/** Reads the configuration as a start would, the keys of plugins included. Throws `config_invalid`, `secret_invalid`. */
export async function checkProject(options: CheckOptions): Promise<CheckedProject> {
  const { project, mode, environment } = options;
  const loaded = loadConfig({ project, mode, environment, servesNothing: true });
  const { checkPlugins } = await import('./runtime/loading/assemble-once.ts');
  const { end: _, ...unwatched } = options;
  const watched = options.builtInOnly === true ? unwatched : options;
  const { warnings, ...checked } = await bounded(watched, loaded, () => checkPlugins({ ...options, loaded }));
  const { accounts, secretVariables } = checked;
  return { loaded, warnings: [...loaded.warnings, ...warnings], accounts, secretVariables };
}

/** Why a start with the code as it is now would serve nothing; empty where it would. Throws what a plugin refuses of its keys. */
export async function failuresOfCode(options: TaskOptions): Promise<readonly string[]> {
  const loaded = loadConfig(options);
  const { checkPlugins } = await import('./runtime/loading/assemble-once.ts');
  return (await bounded(options, loaded, () => checkPlugins({ ...options, loaded }))).failures;
}

/** Assembles everything once. What is wrong, of the configuration or in the assembly, is in the report. */
export async function assembleOnce(options: TaskOptions): Promise<OnceReport> {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig({ ...options, servesNothing: true });
    trySqlite();
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
  const once = await import('./runtime/loading/assemble-once.ts');
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
  (await import('./host/stored-items.ts')).openStoredItems(options);

/** Throws what the configuration throws, and what a start would say of the database. */
export const openStoredIngress: TaskModule['openStoredIngress'] = async (options) =>
  (await import('./host/stored-ingress.ts')).openStoredIngress(options);

/** Throws what the configuration throws, and `not_found` where there is no database. */
export const verifyWorkroom: TaskModule['verifyWorkroom'] = async (options) =>
  (await import('./workroom/journal/verify-stored.ts')).verifyStored(options);

/** Throws what the configuration throws, `already_running` beside a worker, and `not_found` without a database. */
export const makeStopped: TaskModule['makeStopped'] = async (options) =>
  (await import('./recovery/checkpoint/make-stopped.ts')).makeStopped(options);

export const readRestorePlan: TaskModule['readRestorePlan'] = async (request) =>
  (await import('./recovery/restore/restore.ts')).readRestorePlan(request);

/** Throws `already_running` beside a worker. */
export const switchCode: TaskModule['switchCode'] = async (of) =>
  (await import('./recovery/release/switch-code.ts')).switchCode(of);

export const refuseUnmovable: TaskModule['refuseUnmovable'] = async (of) =>
  (await import('./recovery/release/switch-code.ts')).refuseUnmovable(of);

export const judgeRelease: TaskModule['judgeRelease'] = async (options) =>
  (await import('./recovery/release/judge-release.ts')).judgeRelease(options);

/** Throws `already_running` beside a worker, and what refuses the restore: then nothing was changed. */
export const restore: TaskModule['restore'] = async (options) =>
  (await import('./recovery/restore/restore.ts')).restore(options);

export const lastRestore: TaskModule['lastRestore'] = async (of) =>
  (await import('./recovery/restore/restore.ts')).lastRestore(of);

export const finishPending: TaskModule['finishPending'] = async (project) =>
  (await import('./recovery/restore/restore.ts')).finishPending(project);
/** Throws `not_found`, and `conflict` while another process verifies. */
export const verifyCheckpoint: TaskModule['verifyCheckpoint'] = async ({ end, secrets, ...options }) =>
  (await import('./recovery/verify/verify-checkpoint.ts')).verifyCheckpoint(options, {
    once: (of) =>
      assembleOnce({
        ...of,
        mode: 'test',
        ...(end === undefined ? {} : { end }),
        ...(secrets === undefined ? {} : { secrets }),
      }),
  });

/** Throws `not_found`, `checkpoint_damaged`, `refused`. */
export const exportCheckpoint: TaskModule['exportCheckpoint'] = async (options) =>
  (await import('./recovery/archive/export.ts')).exportCheckpoint(options);

/** Throws `archive_refused`, `checkpoint_foreign`, `schema_newer`. */
export const importCheckpoint: TaskModule['importCheckpoint'] = async (options) =>
  (await import('./recovery/archive/import.ts')).importCheckpoint(options);

/** Throws what the configuration throws, and `conflict` while a checkpoint is made. */
export const pruneStored: TaskModule['pruneStored'] = async (options) =>
  (await import('./recovery/checkpoint/remove-checkpoints.ts')).pruneStored(options);

/** Throws `already_running` beside a worker, `journal_damaged` for a journal that does not hold. */
export const convertWorkroom: TaskModule['convertWorkroom'] = async (options) =>
  (await import('./host/stored-workroom.ts')).convertWorkroom(options);

/** Throws as `convertWorkroom` does. */
export const rebuildWorkroom: TaskModule['rebuildWorkroom'] = async (options) =>
  (await import('./host/stored-workroom.ts')).rebuildWorkroom(options);

export async function untrustedFiles(options: TaskOptions): Promise<readonly Untrusted[]> {
  const files = await import('./runtime/loading/untrusted-files.ts');
  return files.untrustedFiles(options);
}

export const lookAtPlugins: TaskModule['lookAtPlugins'] = async (options) =>
  (await import('./runtime/loading/look-at-plugins.ts')).lookAtPlugins(options);

/** Throws what the configuration throws, and `plugin_failed` for an adapter that cannot be loaded. */
export async function checkEndpoint(options: EndpointCheckOptions): Promise<EndpointCheck> {
  const loaded = loadConfig({ ...options, servesNothing: true });
  const { checkAccounts } = await import('./runtime/checks/check-accounts.ts');
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
  const { endBusyCode } = await import('./runtime/loading/busy-code.ts');
  const stop = endBusyCode({ project, mode, loaded, end });
  try {
    return await work();
  } finally {
    stop();
  }
}
