// One life of the real worker in a process of its own, on the real files of a project: the failpoints build, or what is published.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { foregroundArgs } from '../../../support/process/built-svc.ts';

const ENTRY = fileURLToPath(new URL('../../../../dist/failpoints/worker.js', import.meta.url));
const PROGRAM = `const { runForeground } = await import(${JSON.stringify(pathToFileURL(ENTRY).href)});
await runForeground({ project: process.argv[2], mode: 'production', watch: false, exit: (code) => process.exit(code) });`;

export interface LifeEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LifeOptions {
  /** Like `stored=kill@3,writer.sync=error@2`. */
  readonly failpoints?: string | undefined;
  /** One of PLANTS (kill-plan.ts). */
  readonly plant?: string | undefined;
  /** `published`: as `svc runtime start` starts it, without failpoints. */
  readonly build?: 'failpoints' | 'published';
  /** More of the process environment: by it the worker knows its owner. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

export class WorkerLife {
  readonly ended: Promise<LifeEnd>;
  readonly #child: ChildProcess;
  #end: LifeEnd | undefined;

  constructor(project: string, { failpoints, plant, build = 'failpoints', environment = {} }: LifeOptions = {}) {
    if (!existsSync(ENTRY)) throw new Error('dist/failpoints/worker.js is not built: npm run build');
    const log = openSync(workerLog(project), 'a');
    this.#child = spawn(process.execPath, build === 'published' ? foregroundArgs(project) : failpointsArgs(project), {
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env['PATH'],
        ...environment,
        ...(failpoints === undefined ? {} : { SVC_FAILPOINTS: failpoints }),
        ...(plant === undefined ? {} : { SVC_PLANT: plant }),
      },
    });
    closeSync(log);
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#end = { code, signal };
        resolve(this.#end);
      });
    });
  }

  get end(): LifeEnd | undefined {
    return this.#end;
  }
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Nothing of it runs any more; what the kernel does for it goes on. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  async kill(): Promise<LifeEnd> {
    this.#child.kill('SIGKILL');
    return this.ended;
  }

  /** The orderly end. */
  async stop(): Promise<LifeEnd> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}

function failpointsArgs(project: string): readonly string[] {
  // A file, not `--eval`: threads take over the flags of their process.
  const program = join(project, 'run-worker.mjs');
  writeFileSync(program, PROGRAM);
  return [program, project];
}

export const workerLog = (project: string): string => join(project, 'worker.log');

const TAIL_LINES = 20;
const TAIL_COLUMNS = 400;

/** The newest lines of all lives, for a failed test; requests that were refused are left out. */
export function logTail(project: string): string {
  const lines = existsSync(workerLog(project)) ? readFileSync(workerLog(project), 'utf8').trimEnd().split('\n') : [];
  return lines
    .filter((line) => !line.includes('request not served'))
    .slice(-TAIL_LINES)
    .map((line) => line.slice(0, TAIL_COLUMNS))
    .join('\n');
}
