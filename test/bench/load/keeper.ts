// Whoever keeps a process up, as the benchmarks see it: svc itself here, other process managers in test/kits/peers/.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectPaths } from '../../../shared/files/paths.ts';
import { ensureStateFolder } from '../../../shared/files/state-folder.ts';
import { SUPERVISOR_OPTIONS } from '../../../supervisor/cli/start/worker-entry.ts';
import { CLI } from '../../support/process/built-svc.ts';
import { lives, QUICK } from '../../support/process/supervised.ts';
import { until } from '../../support/until.ts';
import type { HostProject } from './host-project.ts';
import { ROOT } from './support.ts';

/** A host that is kept up. Commands are those that a person types, run to their end. */
export interface KeptHost {
  readonly keeperPid: number;
  status(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A program that is kept up, in a folder of its own, with what it prints. */
export interface KeptProgram {
  readonly keeperPid: number;
  readonly folder: string;
  printed(): string;
  printedBytes(): number;
  stop(): Promise<void>;
}

export interface Program {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  /** Restarts without limit and without delay, as far as the keeper can. */
  readonly always?: boolean;
}

export interface Keeper {
  readonly name: string;
  /** Resolves when the command that starts it is back at the prompt. */
  host(project: HostProject): Promise<KeptHost>;
  program(program: Program): Promise<KeptProgram>;
}

const LONGEST_MS = 120_000;

/** Runs a command to its end; throws with what it said when that is not 0. */
export async function run(command: string, args: readonly string[], env = process.env): Promise<void> {
  // `timeout` of spawn would hold this process for as long where there is no such command.
  const signal = AbortSignal.timeout(LONGEST_MS);
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'], signal });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}: ${said}`);
}

export const SVC: Keeper = {
  name: 'svc',
  async host({ folder }) {
    const command = (verb: string, ...flags: string[]) =>
      run(process.execPath, [CLI, 'runtime', verb, ...flags, '--project', folder]);
    await command('start', '--daemon');
    const { supervisor } = JSON.parse(readFileSync(projectPaths(folder).supervisorRecord, 'utf8')) as {
      readonly supervisor: { readonly pid: number };
    };
    return {
      keeperPid: supervisor.pid,
      status: () => command('status'),
      restart: () => command('restart'),
      async stop() {
        await command('stop');
        await until(() => !lives(supervisor.pid), { what: 'the end of the supervisor' });
      },
    };
  },
  async program({ file, env, nodeOptions = [], always = false }) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bench-program-'));
    const paths = projectPaths(folder);
    ensureStateFolder(paths.stateDir);
    const options = nodeOptions.map((option) => `--node-option=${option}`);
    const program = [...SUPERVISOR_OPTIONS, join(ROOT, 'dist/supervisor.cjs')];
    const args = [...program, '--project', folder, '--worker', file, ...options];
    const child = spawn('sh', ['-c', 'ulimit -c 0; exec "$@"', 'sh', process.execPath, ...args], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { ...process.env, ...env },
    });
    child.stdin.end(JSON.stringify({ settings: settingsOf(always), secrets: {} }));
    return {
      keeperPid: child.pid ?? 0,
      folder,
      printed: () => readFileSync(paths.runtimeLog, 'utf8'),
      printedBytes: () => statSync(paths.runtimeLog).size,
      stop: () => end(child, folder),
    };
  },
};

/** What a configuration gives by default, or a budget that no program here spends. */
function settingsOf(always: boolean): object {
  const { delaysMs: _, ...settings } = QUICK;
  const numbers = { restarts: 5, windowMs: 120_000, upMs: 30_000, watchdogMs: 15_000, stopMs: 8_000, logBytes: 1e9 };
  return { ...settings, ...numbers, ...(always ? { restarts: 100, windowMs: 1_000, delaysMs: [0] } : {}) };
}

export async function end(child: ChildProcess, folder: string): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
