// Entries of worker and supervisor, as files to start and as modules to load. No other file of the CLI knows them.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ForegroundOptions } from '../../../worker/main.ts';
import type { TaskModule } from '../../../worker/task.ts';
import type { CommandContext } from '../command.ts';
import { containProjectCode } from './project-code.ts';

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const BUNDLED = existsSync(beside('./worker.js'));

/** --jitless implies no WebAssembly. Node below 24 warns unless it is explicit; Node 24 has no such option. Tested up to Node 26. */
const MAJOR = Number(process.versions.node.split('.', 1)[0]);
const JITLESS = MAJOR < 24 ? ['--jitless', '--no-expose-wasm'] : MAJOR <= 26 ? ['--jitless'] : [];

/**
 * Options of the supervisor. It computes little, so machine code is not worth its 2 MiB. It triggers garbage collection itself, with one helper
 * thread.
 */
export const SUPERVISOR_OPTIONS: readonly string[] = [...JITLESS, '--expose-gc', '--v8-pool-size=1'];

/**
 * Options of a worker: MiB for each half of the young generation. A larger one makes floods of deliveries cheaper.
 * It also lets an attacker without a token use that much memory.
 * Up to Node 22 the option is left out: V8's default is 16 there, and V8 rejects cached code if an option is added.
 */
export const WORKER_OPTIONS: readonly string[] = MAJOR > 22 ? ['--max-semi-space-size=8'] : [];
/** The operator's NODE_OPTIONS win. The command line would override them, so the option is left out. */
const workerOptionsIn = (env: Environment): readonly string[] =>
  /max[-_]semi[-_]space[-_]size/.test(env['NODE_OPTIONS'] ?? '') ? [] : WORKER_OPTIONS;

/** What `assembleOnce` reports. */
export type OnceReport = Awaited<ReturnType<TaskModule['assembleOnce']>>;

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramFiles {
  readonly supervisor: string;
  readonly worker: string;
  /** Node options for the worker. */
  readonly workerOptions: readonly string[];
  /** Node options for the supervisor. */
  readonly supervisorOptions: readonly string[];
}

export function programFiles(env: Environment): ProgramFiles {
  if (BUNDLED)
    return {
      supervisor: beside('./supervisor.cjs'),
      worker: beside('./worker.js'),
      workerOptions: workerOptionsIn(env),
      supervisorOptions: SUPERVISOR_OPTIONS,
    };
  const tsx = ['--import', import.meta.resolve('tsx')];
  return {
    supervisor: beside('../../main.ts'),
    worker: beside('../../../worker/main.ts'),
    workerOptions: [...tsx, ...workerOptionsIn(env)],
    supervisorOptions: tsx,
  };
}

/** Arguments of Node for the command line of this version, as a program of its own. */
export const commandLine = (): readonly string[] =>
  BUNDLED ? [beside('./cli.js')] : ['--import', import.meta.resolve('tsx'), beside('../main.ts')];

/** Runs the worker in this process. Its exit code is the command's. */
export async function runForeground(options: ForegroundOptions): Promise<void> {
  const worker = await import('../../../worker/main.ts');
  return worker.runForeground(options);
}

/** Schema version of a database file, read from its bytes. No plugin code runs. */
export const storedSchema: TaskModule['storedSchema'] = async (file) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.storedSchema(file);
};

/** Inbox and outbox in the database file. No plugin code runs. */
export const openStoredItems: TaskModule['openStoredItems'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.openStoredItems(options);
};

/** Ingress in the database file of a stopped host. No plugin code runs. */
export const openStoredIngress: TaskModule['openStoredIngress'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.openStoredIngress(options);
};

/** Proves the journal of the Workroom in the database file, or of an export. */
export const verifyWorkroom: TaskModule['verifyWorkroom'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.verifyWorkroom(options);
};

/** A checkpoint of a stopped host. No plugin code runs. */
export const makeStopped: TaskModule['makeStopped'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.makeStopped(options);
};

/** What a restore would do. No plugin code runs. */
export const readRestorePlan: TaskModule['readRestorePlan'] = async (request) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.readRestorePlan(request);
};

/** Exchanges the code of a stopped host. No plugin code runs. */
export const switchCode: TaskModule['switchCode'] = async (of) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.switchCode(of);
};

/** Whether the code of a project can be exchanged. No plugin code runs. */
export const refuseUnmovable: TaskModule['refuseUnmovable'] = async (of) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.refuseUnmovable(of);
};

/** How a released version does. No plugin code runs. */
export const judgeRelease: TaskModule['judgeRelease'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.judgeRelease(options);
};

/** Restores the state of a stopped host. No plugin code runs. */
export const restore: TaskModule['restore'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.restore(options);
};

/** The state that the last restore of a project has replaced. No plugin code runs. */
export const lastRestore: TaskModule['lastRestore'] = async (of) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.lastRestore(of);
};

/** Finishes a switch that was decided. */
export const finishPending: TaskModule['finishPending'] = async (project) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.finishPending(project);
};

/** A checkpoint as one archive. No plugin code runs. */
export const exportCheckpoint: TaskModule['exportCheckpoint'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.exportCheckpoint(options);
};

/** An archive as a checkpoint. No plugin code runs. */
export const importCheckpoint: TaskModule['importCheckpoint'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.importCheckpoint(options);
};

/** Removes checkpoints by the configuration. No plugin code runs. */
export const pruneStored: TaskModule['pruneStored'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.pruneStored(options);
};

/** Moves the journal of a stopped Workroom to the other store. No plugin code runs. */
export const convertWorkroom: TaskModule['convertWorkroom'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.convertWorkroom(options);
};

/** Makes all that is derived from the journal anew. No plugin code runs. */
export const rebuildWorkroom: TaskModule['rebuildWorkroom'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.rebuildWorkroom(options);
};

/** Project files that other users can change. No plugin code runs. */
export const untrustedFiles: TaskModule['untrustedFiles'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.untrustedFiles(options);
};

/** Plugins that are missing or outdated. No plugin code runs. */
export const lookAtPlugins: TaskModule['lookAtPlugins'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.lookAtPlugins(options);
};

/** Loads the worker's one-shot tasks, which load plugin code, into this process. */
export async function loadTasks({ end }: Pick<CommandContext, 'end'>): Promise<TaskModule> {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  if (!BUNDLED) return tasks; // unbundled, the process belongs to a test and not to a command
  const known = tasks.newSecrets();
  containProjectCode((text) => known.mask(text));
  const contained = { end, secrets: (texts: readonly string[]) => known.add(texts) };
  return {
    ...tasks,
    checkProject: (options) => tasks.checkProject({ ...options, ...contained }),
    verifyCheckpoint: (options) => tasks.verifyCheckpoint({ ...options, ...contained }),
    assembleOnce: (options) => tasks.assembleOnce({ ...options, ...contained }),
    checkEndpoint: (options) => tasks.checkEndpoint({ ...options, ...contained }),
  };
}
