// The daemon of a project by its own commands, and its worker by the record that it writes: what an operator and a fault do to it.
import { existsSync, readFileSync } from 'node:fs';
import { svc } from '../../../support/svc-command.ts';
import type { TemporaryProject } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';

const UP_LIMIT_MS = 30_000;
/** So long what a frozen worker has written last is still on its way to the platforms. */
const IN_FLIGHT_MS = 150;

/**
 * A heap so small that its limit is reached in seconds: without one V8 lets memory grow for minutes before it looks. What cannot be
 * collected soon ends the worker.
 */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=80 --max-semi-space-size=4' };

export class Daemon {
  readonly #project: TemporaryProject;

  constructor(project: TemporaryProject) {
    this.#project = project;
  }

  start(): Promise<void> {
    return this.#do('start', '--daemon');
  }
  reload(): Promise<void> {
    return this.#do('reload');
  }
  restart(): Promise<void> {
    return this.#do('restart');
  }
  stop(): Promise<void> {
    return this.#do('stop');
  }

  get worker(): number {
    return pidIn(this.#project.paths.workerRecord);
  }
  get supervisor(): number {
    return pidIn(this.#project.paths.supervisorRecord, 'supervisor');
  }

  /** SIGKILL of the worker. Frozen first: `dead` is called when nothing of it is under way any more, and nothing of the next one yet. */
  async kill(dead: () => void): Promise<void> {
    const pid = this.worker;
    process.kill(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, IN_FLIGHT_MS));
    dead();
    process.kill(pid, 'SIGKILL');
    await until(() => this.worker !== pid, { what: 'the next worker', timeoutMs: UP_LIMIT_MS });
  }

  async #do(verb: string, ...options: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await svc(['runtime', verb, ...options], {
      cwd: this.#project.path,
      env: SMALL_HEAP,
    });
    if (code !== 0) throw new Error(`svc runtime ${verb} ended with ${code}: ${stdout}${stderr}`);
  }
}

/** 0 while there is none. */
function pidIn(file: string, part?: string): number {
  if (!existsSync(file)) return 0;
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, { pid: number }>>;
    const holder = (part === undefined ? record : record[part]) as { pid: number } | undefined;
    return holder?.pid ?? 0;
  } catch {
    return 0; // it is being written
  }
}
