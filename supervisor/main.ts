// The daemon: node dist/supervisor.cjs --project DIR --mode MODE --worker FILE. Settings and secrets come as JSON on stdin (the handoff).
//
//   DAEMON-1  If two start at once, one holds the lock. The other exits with 0 if the holder is up and ready, else with 1.
//   DAEMON-2  This process loads no packages and no worker code.
//   DAEMON-3  `--trace FILE` appends each step of the state machine to a file, for tests.
//   DAEMON-4  `--successor`: the supervisor that this one replaces started it and sends the handoff.
//   DAEMON-5  Its environment holds no secrets. They come over stdin and go to each worker over IPC.
import { appendFileSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { SupervisorSettings } from '../shared/api/ipc.ts';
import { callControl } from '../shared/control/control-client.ts';
import type { ControlListener } from '../shared/control/control-listener.ts';
import { CONTROL_SOCKET, type ProjectPaths, projectPaths } from '../shared/files/paths.ts';
import { ensureStateFolder } from '../shared/files/state-folder.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import { coerceError } from '../shared/svc-error.ts';
import { delay } from '../shared/time/abort.ts';
import { VERSION } from '../shared/version.ts';
import { openControl } from './control.ts';
import { RuntimeLog } from './log/runtime-log.ts';
import { acquireInstanceLock, type InstanceLock } from './succession/instance-lock.ts';
import { type Inheritance, inherit, LOCK_DESCRIPTOR } from './succession/succession.ts';
import { Supervisor, type TracedStep } from './supervisor.ts';
import { stayThin } from './thin-process.ts';

interface Handoff {
  readonly settings: SupervisorSettings;
  readonly secrets: Readonly<Record<string, string>>;
}

const HANDOFF_MS = 5_000;
const GRACE_MS = 100;
const CLOSE_MS = 2_000;
const CONTROL_PAUSE_MS = 2_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      project: { type: 'string' },
      mode: { type: 'string', default: 'production' },
      worker: { type: 'string' },
      trace: { type: 'string' },
      successor: { type: 'boolean', default: false },
      'node-option': { type: 'string', multiple: true, default: [] },
    },
  });
  const { project, mode, worker, trace } = values;
  if (project === undefined || worker === undefined)
    return end(EXIT.usage, 'usage: supervisor --project DIR --worker FILE, the handoff on stdin');
  process.umask(0o077);
  process.chdir(project);
  const paths = projectPaths(project);
  const office = values.successor ? await succeed() : await takeOffice(paths);
  if (office === undefined) return end(await isHolderHealthy(), 'another supervisor of this project is running');

  const log = new RuntimeLog({
    path: paths.runtimeLog,
    base: {
      project: office.handoff.settings.project ?? basename(project),
      process: 'supervisor',
      pid: process.pid,
    },
  });
  log.conceal(Object.values(office.handoff.secrets));
  if (office.lock.isBesideStranger === true)
    log.write('warn', 'another user holds the usual name of the lock of this project: the lock has a secret one');
  const supervisor = new Supervisor({
    paths,
    log,
    mode,
    workerArgs: workerArguments(values['node-option'], worker, { project, mode }),
    workerFile: worker,
    environment: process.env,
    secrets: office.handoff.secrets,
    settings: office.handoff.settings,
    lock: office.lock,
    ...(trace === undefined ? {} : { trace: writerOf(trace) }),
    onStopped: (code) => {
      // The answer to `stop` is sent first. A client that does not read its answer cannot delay the exit.
      setTimeout(() => void control.then((listener) => listener.close()).finally(() => process.exit(code)), GRACE_MS);
      setTimeout(() => process.exit(code), CLOSE_MS);
    },
  });
  const open = (): Promise<ControlListener> => openControl(supervisor, log, VERSION);
  const control = office.formerGone.then(office.inheritance === undefined ? open : () => untilOpen(open, log));
  if (office.inheritance === undefined) await control;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => supervisor.dispatch({ kind: 'stop', now: false }));
  process.on('SIGHUP', () => {}); // the terminal that started the daemon has closed
  process.on('SIGUSR1', () => log.moved()); // another program rotated the log; without a listener Node would open its inspector
  process.on('uncaughtException', (error) => {
    supervisor.driveOn();
    log.write('error', 'supervisor error', { reason: error.stack ?? String(error) });
  });
  supervisor.start(office.inheritance);
  await control;
}

/** Retries until the control socket can be made, because a worker runs already. */
async function untilOpen(open: () => Promise<ControlListener>, log: RuntimeLog): Promise<ControlListener> {
  for (let told = ''; ; await delay(CONTROL_PAUSE_MS)) {
    try {
      return await open();
    } catch (error) {
      const { message } = coerceError(error);
      if (message !== told) log.write('error', 'the control socket cannot be made', { reason: message });
      told = message;
    }
  }
}

/** Data with which a first supervisor or a successor begins. */
interface Office {
  readonly lock: InstanceLock;
  readonly handoff: Handoff;
  readonly inheritance?: Inheritance;
  /** Resolves when no other supervisor answers on the control socket. */
  readonly formerGone: Promise<void>;
}

/** Returns undefined if another supervisor holds the lock. */
async function takeOffice({ stateDir }: ProjectPaths): Promise<Office | undefined> {
  const handoff = await readHandoff();
  const lock = await acquireInstanceLock(stateDir, ensureStateFolder(stateDir));
  return lock === undefined ? undefined : { lock, handoff, formerGone: Promise.resolve() };
}

async function succeed(): Promise<Office> {
  const inheritance = await inherit();
  const { lock: server, estate } = inheritance;
  const formerGone = new Promise<void>((resolve) => {
    process.once('disconnect', resolve);
  });
  return {
    lock: server === undefined ? { descriptor: LOCK_DESCRIPTOR } : { server },
    handoff: estate,
    inheritance,
    formerGone,
  };
}

function workerArguments(
  nodeOptions: readonly string[],
  worker: string,
  { project, mode }: { readonly project: string; readonly mode: string },
): string[] {
  return [
    ...nodeOptions,
    worker,
    '--supervised',
    '--parent',
    String(process.pid),
    '--project',
    project,
    '--mode',
    mode,
  ];
}

/** Opens the file once, so that steps are also written when no file descriptor is free. */
function writerOf(trace: string): (taken: TracedStep) => void {
  const descriptor = openSync(trace, 'a');
  return (taken) => appendFileSync(descriptor, `${JSON.stringify(taken)}\n`);
}

/** Reads settings and secrets. The command that starts the daemon writes them and closes the pipe. */
async function readHandoff(): Promise<Handoff> {
  const timer = setTimeout(() => end(EXIT.failed, 'no handoff on stdin'), HANDOFF_MS);
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  clearTimeout(timer);
  return JSON.parse(text) as Handoff;
}

async function isHolderHealthy(): Promise<0 | 1> {
  try {
    const status = await callControl(CONTROL_SOCKET, 'status');
    return typeof status === 'object' && status !== null && 'ready' in status && status.ready === true
      ? EXIT.ok
      : EXIT.failed;
  } catch {
    return EXIT.failed; // the holder has the lock and does not answer yet
  }
}

function end(code: number, message: string): void {
  process.stderr.write(`svc supervisor: ${message}\n`);
  process.exit(code);
}

stayThin();
main().catch((error: unknown) => {
  const { message, hint } = coerceError(error);
  end(EXIT.failed, hint === undefined ? message : `${message} (${hint})`);
});
