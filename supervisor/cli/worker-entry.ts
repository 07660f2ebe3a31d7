// The one file of the CLI that knows the entries of worker and supervisor: as files to start, and to load into this process.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ForegroundOptions } from '../../worker/main.ts';
import type { TaskModule } from '../../worker/task.ts';

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const BUNDLED = existsSync(beside('./worker.js'));

export interface ProgramFiles {
  readonly supervisor: string;
  readonly worker: string;
  /** Options of Node that both need; none for bundles. */
  readonly nodeOptions: readonly string[];
}

export function programFiles(): ProgramFiles {
  if (BUNDLED) return { supervisor: beside('./supervisor.cjs'), worker: beside('./worker.js'), nodeOptions: [] };
  return {
    supervisor: beside('../main.ts'),
    worker: beside('../../worker/main.ts'),
    nodeOptions: ['--import', import.meta.resolve('tsx')],
  };
}

/** Runs the worker in this process: its exit is that of the command. */
export async function runForeground(options: ForegroundOptions): Promise<void> {
  const worker = await import('../../worker/main.ts');
  return worker.runForeground(options);
}

/** One-shot work of the worker's code in this process. */
export async function loadTasks(): Promise<TaskModule> {
  return import('../../worker/task.ts');
}
