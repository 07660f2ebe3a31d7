// `svc runtime start --daemon`: checks the configuration, starts a supervisor in a session of its own, and waits until the host is ready.
//
//   START-DAEMON-1  An invalid configuration starts nothing and creates no file (exit code 78). So do packages that do not fit this Node. Keys
//                   of the project's own plugins are judged by the worker alone, which has to load the plugins: if it ends with 78, its
//                   supervisor is ended again.
//   START-DAEMON-2  A healthy daemon with the same configuration is a success (0). If this shell cannot read the configuration, the daemon checks
//                   it.
//   START-DAEMON-3  Secrets go through a pipe, and the daemon's environment holds none. Schemas mark which variables are secret;
//                   those in keys of the project's own plugins are taken for secrets.
//   START-DAEMON-4  An exchange of code that was cut is finished first: it may have moved the configuration, and this command too. Then the svc
//                   of the code that lies here starts the host.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { supervisorSettings } from '../../../shared/config/supervisor-settings.ts';
import { refuseUnwritableDatabase } from '../../../shared/files/database-access.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { ensureStateFolder } from '../../../shared/files/state-folder.ts';
import { certificatesPassedOn } from '../../../shared/process/certificates.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import { findStaying, liveWorker, type RunningProject } from '../connect/control-client.ts';
import { judgedByDaemon } from '../connect/running-configuration.ts';
import { DAEMON_STOPPED, goneProcess, type WaitResult, waitForReady } from '../connect/wait-for-ready.ts';
import { lastLines, nextStep } from '../output/status-text.ts';
import { refuseSecondOwner } from './second-owner.ts';
import { loadTasks, programFiles } from './worker-entry.ts';

const READY_MS = 20_000;
const CAUSE_BYTES = 4_096;
const LINES_SHOWN = 5;
const END_LOOK_MS = 25;
const END_LOOKS = 400;

export async function startDaemon(
  context: CommandContext,
  project: string,
  timeoutMs: number = READY_MS,
): Promise<ExitCode> {
  if (existsSync(projectPaths(project).pendingSwitch)) {
    const behind = await startBehindSwitch(context, project, timeoutMs);
    if (behind !== undefined) return behind;
  }
  const { checkProject } = await loadTasks(context);
  let loaded: LoadedConfig;
  let secretVariables: readonly string[];
  let warnings: readonly string[];
  try {
    const asked = { project, mode: 'production', environment: context.env, builtInOnly: true } as const;
    ({ loaded, secretVariables, warnings } = await checkProject(asked));
  } catch (error) {
    const judged = await judgedByDaemon(project);
    if (judged === undefined) throw error;
    return join(context, { project, ...judged, timeoutMs });
  }
  for (const warning of warnings) context.print.note(context.print.color.warn(`warning: ${warning}`));
  const running = await findStaying(project);
  if (running !== undefined) return join(context, { project, running, configVersion: loaded.version, timeoutMs });
  refuseSecondOwner(project, context.env);
  (await import('../../../shared/sqlite.ts')).trySqlite();
  ensureStateFolder(projectPaths(project).stateDir);
  refuseUnwritableDatabase(resolve(project, loaded.config.database.filename));
  const since = new Date().toISOString();
  const child = spawnSupervisor(project, {
    loaded,
    ...parted(context.env, { names: secretVariables, texts: loaded.secrets }),
  });
  const result = await waitForReady(project, { timeoutMs, givenUp: child.ended, say: context.print.note });
  const refused = refusedKeys(result);
  if (refused !== undefined) await endAgain(project, child);
  child.release();
  if (refused !== undefined) throw refused;
  const holder = result.status?.owner === 'daemon' ? undefined : liveWorker(project);
  if (holder !== undefined && holder.owner !== 'daemon') throw ranElsewhere(holder); // started at the same moment
  return tell(context, { project, result, already: false, since });
}

/** START-DAEMON-4. Undefined where no exchange of code was cut. */
async function startBehindSwitch(
  context: CommandContext,
  project: string,
  timeoutMs: number,
): Promise<ExitCode | undefined> {
  const { finishCut, isCodeCut, runAs } = await import('../release/hand-over.ts');
  if (!isCodeCut(project) || (await findStaying(project)) !== undefined) return undefined;
  const { cli } = await finishCut(project);
  context.print.note(`the exchange of code that was cut is finished`);
  if (cli === undefined) return startDaemon(context, project, timeoutMs);
  return runAs(cli, ['runtime', 'start', '--daemon', '--timeout', String(timeoutMs / 1_000)], { project, context });
}

/** The error with which the worker has refused the configuration. */
function refusedKeys({ status }: WaitResult): SvcError | undefined {
  const end = status?.state === 'failed' ? status.exits.at(-1) : undefined;
  if (end?.code !== EXIT.config) return undefined;
  return new SvcError('config_invalid', end.detail ?? 'the configuration is invalid', {
    hint: 'nothing was started; `svc config check` checks the file',
  });
}

/** Ends the supervisor that this command has started. Resolves when it is gone. */
async function endAgain(project: string, { ended }: { readonly ended: () => string | undefined }): Promise<void> {
  await (await findStaying(project))?.call('stop').catch(() => {}); // it may be gone before it answers
  for (let looks = 0; ended() === undefined && looks < END_LOOKS; looks += 1) await pause(END_LOOK_MS);
}

function ranElsewhere(
  { pid, owner, mode }: Pick<RuntimeStatus, 'pid' | 'owner' | 'mode'>,
  stop = 'svc runtime stop',
): SvcError {
  return new SvcError(
    'already_running',
    `this project is already running as pid ${pid}, started by ${owner} in mode ${mode}`,
    {
      hint: `end it there first: ${stop}`,
      details: { pid, owner },
    },
  );
}

/** A host runs already: the request is satisfied, under way, or refused. */
async function join(
  context: CommandContext,
  {
    project,
    running,
    configVersion,
    timeoutMs,
  }: {
    readonly project: string;
    readonly running: RunningProject;
    readonly configVersion: string;
    readonly timeoutMs: number;
  },
): Promise<ExitCode> {
  const { status, who } = running;
  if (who === 'worker' && status.owner !== 'daemon') throw ranElsewhere(status, status.ownerStop);
  if (status.state !== 'failed' && status.configVersion !== null && status.configVersion !== configVersion) {
    throw new SvcError('already_running', `the daemon runs with another configuration, pid ${status.supervisorPid}`, {
      hint: 'svc runtime reload, or svc runtime restart',
      details: { pid: status.supervisorPid },
    });
  }
  const hasFailed = who === 'supervisor' && status.state === 'failed';
  const since = hasFailed ? new Date().toISOString() : '';
  if (hasFailed) {
    (await import('../../../shared/sqlite.ts')).trySqlite();
    await running.call('start');
  }
  const givenUp = goneProcess(status.supervisorPid, DAEMON_STOPPED);
  const result = await waitForReady(project, { timeoutMs, givenUp, say: context.print.note });
  return tell(context, { project, result, already: !hasFailed, since });
}

function spawnSupervisor(
  project: string,
  { loaded, environment, secrets }: Parted & { readonly loaded: LoadedConfig },
): { readonly ended: () => string | undefined; readonly release: () => void } {
  const child = spawn(process.execPath, supervisorArguments(project, environment), {
    cwd: project,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: certificatesPassedOn(environment),
  });
  let cause = '';
  let code: number | null | undefined;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    cause = (cause + text).slice(-CAUSE_BYTES);
  });
  child.on('error', (error) => {
    cause = error.message;
    code = null;
  });
  child.on('close', (status) => {
    code = status;
  });
  child.stdin.on('error', () => {}); // the child ended before it read: `close` reports it
  child.stdin.end(JSON.stringify({ settings: supervisorSettings(loaded), secrets }));
  return {
    ended: () =>
      code === undefined
        ? undefined
        : cause.trim() || (code === EXIT.ok ? DAEMON_STOPPED : `the supervisor ended with code ${code}`),
    release: () => {
      child.stderr.destroy();
      child.unref();
    },
  };
}

/** Node arguments for a supervisor of this version. */
export function supervisorArguments(project: string, env: CommandContext['env']): readonly string[] {
  const { supervisor, worker, workerOptions, supervisorOptions } = programFiles(env);
  const options = workerOptions.map((option) => `--node-option=${option}`);
  return [
    ...supervisorOptions,
    supervisor,
    '--project',
    project,
    '--mode',
    'production',
    '--worker',
    worker,
    ...options,
  ];
}

interface Parted {
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Splits the variables into secrets and others. A variable is secret by name, or if its value equals a secret's. */
function parted(
  env: CommandContext['env'],
  { names, texts }: { readonly names: readonly string[]; readonly texts: readonly string[] },
): Parted {
  const environment: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  const hidden = [...texts, ...names.map((name) => env[name] ?? '').filter((text) => text.length >= 8)];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    // A secret may be composed of several variables. Then each of them is secret.
    const isPart =
      value.length >= 4 && hidden.some((text) => text.includes(value) && (text === value || value.length >= 8));
    (isPart || names.includes(name) ? secrets : environment)[name] = value;
  }
  return { environment, secrets };
}

interface Outcome {
  readonly project: string;
  readonly result: WaitResult;
  readonly already: boolean;
  /** Time of the request: earlier exits of workers are unrelated. */
  readonly since: string;
}

function tell({ print }: CommandContext, { project, result, already, since }: Outcome): ExitCode {
  const { ready, status, reasons } = result;
  const log = projectPaths(project).runtimeLog;
  print.json({
    ready,
    alreadyRunning: already,
    state: status?.state ?? null,
    pid: status?.pid ?? null,
    supervisorPid: status?.supervisorPid ?? null,
    runtimeId: status?.runtimeId ?? null,
    address: status?.address ?? null,
    log,
    reasons,
  });
  if (ready)
    print.text(
      print.color.good(
        `${already ? 'already running' : 'ready'}, pid ${status?.pid}, supervisor pid ${status?.supervisorPid}`,
      ),
    );
  else print.text(print.color.bad(reasons.join('; ')));
  print.text(`log ${log}`);
  const end = status?.exits.at(-1);
  if (!ready && status?.state !== 'running' && end !== undefined && end.at >= since)
    for (const line of lastLines(end, { color: print.color, lines: LINES_SHOWN })) print.note(line);
  const step = ready || status === undefined ? undefined : nextStep(status);
  if (step !== undefined) print.note(step);
  return ready ? EXIT.ok : EXIT.failed;
}
