// The one file of the CLI that knows the entries of worker and supervisor: as files to start, and to load into this process.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ForegroundOptions } from '../../../worker/main.ts';
import type { TaskModule } from '../../../worker/task.ts';
import type { CommandContext } from '../command.ts';
import { containProjectCode } from './project-code.ts';

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const BUNDLED = existsSync(beside('./worker.js'));

/** Without WebAssembly is implied: Node below 24 warns where it is not said, Node 24 knows no such option. Tried up to Node 26. */
const MAJOR = Number(process.versions.node.split('.', 1)[0]);
const JITLESS = MAJOR < 24 ? ['--jitless', '--no-expose-wasm'] : MAJOR <= 26 ? ['--jitless'] : [];

/** Of the supervisor: it computes nothing for which machine code would be worth the 2 MiB that making any takes; it collects by itself, with one helper. */
export const SUPERVISOR_OPTIONS: readonly string[] = [...JITLESS, '--expose-gc', '--v8-pool-size=1'];

/**
 * Of a worker: MiB of each half of the young generation. A larger one makes a flood of deliveries cheaper, and gives an attacker without a
 * token that much memory. Up to Node 22 this is V8's default, and V8 refuses kept code in a process with any option more.
 */
export const WORKER_OPTIONS: readonly string[] = MAJOR > 22 ? ['--max-semi-space-size=8'] : [];
/** What the operator said of it himself holds: Node would take the command line before that. */
const workerOptionsIn = (env: Environment): readonly string[] =>
  /max[-_]semi[-_]space[-_]size/.test(env['NODE_OPTIONS'] ?? '') ? [] : WORKER_OPTIONS;

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramFiles {
  readonly supervisor: string;
  readonly worker: string;
  /** Options of Node for the worker. */
  readonly workerOptions: readonly string[];
  /** Of the same for the supervisor. */
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

/** Runs the worker in this process: its exit is that of the command. */
export async function runForeground(options: ForegroundOptions): Promise<void> {
  const worker = await import('../../../worker/main.ts');
  return worker.runForeground(options);
}

/** The schema of a database file, as its bytes show it. No code of plugins runs. */
export const storedSchema: TaskModule['storedSchema'] = async (file) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.storedSchema(file);
};

/** Inbox and outbox as the file has them. No code of plugins runs. */
export const openStoredItems: TaskModule['openStoredItems'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.openStoredItems(options);
};

/** Files of a project that others can change. No code of plugins runs. */
export const untrustedFiles: TaskModule['untrustedFiles'] = async (options) => {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  return tasks.untrustedFiles(options);
};

/** One-shot work of the worker's code in this process, and with it that of plugins. */
export async function loadTasks({ end }: Pick<CommandContext, 'end'>): Promise<TaskModule> {
  const tasks: TaskModule = await import('../../../worker/task.ts');
  if (!BUNDLED) return tasks; // the process is not the command's: a test runs it from the sources
  const known = tasks.newSecrets();
  containProjectCode((text) => known.mask(text));
  const contained = { end, secrets: (texts: readonly string[]) => known.add(texts) };
  return {
    ...tasks,
    checkProject: (options) => tasks.checkProject({ ...options, ...contained }),
    assembleOnce: (options) => tasks.assembleOnce({ ...options, ...contained }),
    checkEndpoint: (options) => tasks.checkEndpoint({ ...options, ...contained }),
  };
}
