// Runs one worker from its first log line to its exit code, for every kind of owner. Entry files pass the ways to make the app and to exit.
//
// Order of a start: log → (supervised: hello, welcome) → pending switch → configuration → state folder → writer lock → app → control socket → up.
// Nothing is bound or created before the configuration is valid. No state is touched before the lock is held.
//
//   WORKER-1  Every end has a documented exit code and a log line with the reason. The record in the writer lock contains both.
//   WORKER-2  SIGTERM, SIGINT, IPC and the control socket all start the same drain. A repeated SIGTERM changes nothing. A second Ctrl-C on
//             a terminal exits at once with 130. SIGINT within half a second of the first is the same key press.
//   WORKER-3  The drain has a time limit. Unfinished work is then named and cut.
//   WORKER-4  An uncaught error is the last line of the log, and the exit code is 1. A plugin that calls `process.exit` throws one.
//   WORKER-5  A pending switch (of a restore or a release) is finished under the writer lock, before the configuration is read and before anything
//             is bound. The worker then exits with 75: its own code may be among what moved.

import { existsSync, rmSync } from 'node:fs';
import type { Cut, RuntimeStatus } from '../../shared/api/control.ts';
import { type Environment, takeHanded } from '../../shared/config/environment.ts';
import type { LoadedConfig } from '../../shared/config/load.ts';
import { supervisorSettings } from '../../shared/config/supervisor-settings.ts';
import type { ControlListener } from '../../shared/control/control-listener.ts';
import { ERRORS } from '../../shared/error-codes.ts';
import { type ProjectPaths, projectPaths } from '../../shared/files/paths.ts';
import { checkStateFolder, ensureStateFolder, volumeNote } from '../../shared/files/state-folder.ts';
import { newRuntimeId, type RuntimeId } from '../../shared/identifiers.ts';
import type { Log } from '../../shared/log/logger.ts';
import { withoutSecrets } from '../../shared/log/redaction.ts';
import { EXIT, type ExitCode } from '../../shared/process/exit-codes.ts';
import { hangupIgnoredHere } from '../../shared/process/hangup.ts';
import { coerceError, messageOf } from '../../shared/svc-error.ts';
import { within } from '../../shared/time/abort.ts';
import { VERSION } from '../../shared/version.ts';
import { ANSWER_TURNS, turns } from '../core/turns.ts';
import { acquireWriterLock, formerEnd, type WriterLock } from '../database/writer-lock.ts';
import type { App } from '../host/app-options.ts';
import { reloadAnswer } from '../host/app-restart.ts';
import { AppStart } from './app-start.ts';
import { type ConsoleCapture, captureConsole } from './console-capture.ts';
import { Heartbeat } from './heartbeat.ts';
import { inheritedSocket } from './inherited-socket.ts';
import { ListenSocket } from './listen-socket.ts';
import { OwnerLink } from './owner/owner-link.ts';
import { noticesNoSilence } from './owner/restart-owner.ts';
import { linkToSupervisor, type SupervisorLink, type SupervisorListener } from './owner/supervisor-link.ts';
import { listenToSignals } from './signals.ts';
import { untilUp } from './start-progress.ts';
import { stopApp } from './stop-app.ts';
import { openWorkerControl } from './worker-control.ts';
import { openWorkerLog } from './worker-log.ts';
import type { WorkerOptions } from './worker-options.ts';
import { type ReadinessTeller, tellReadiness, type WorkerPhase, workerStatus } from './worker-status.ts';

const WATCHDOG_SECONDS = 15;
const MESSAGE_CHARACTERS = 2_000;
/** Part of the drain time that is reserved for reporting the result. */
const LAST_STEPS_MS = 500;
const SHORT_MS = LAST_STEPS_MS / 5;
/** For the last lines on a pipe. On a busy machine the thread that writes them waits for its turn; only a reader that takes nothing costs all of it. */
const LAST_LINES_MS = 2_000;

/**
 * Resolves once the worker is up; the worker then runs until its end.
 * A failed start exits with the code of its error. In the foreground it throws instead, so that the command can print the error.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const worker = new Worker(options);
  try {
    await worker.start();
  } catch (error) {
    if (options.supervised) return worker.fail(error);
    await worker.abandon(error);
    if (worker.owned.givesUp(error)) return options.exit(EXIT.ok);
    throw error;
  }
}

interface Ending {
  readonly cut: readonly Cut[];
  /** Until whoever asked for the end makes one. */
  readonly leftMs: number;
}

class Worker {
  readonly owned: OwnerLink;
  readonly #options: WorkerOptions;
  readonly #paths: ProjectPaths;
  readonly #runtimeId: RuntimeId = newRuntimeId();
  readonly #log: Log;
  readonly #appStart: AppStart;
  #heartbeat: Heartbeat | undefined;
  #link: SupervisorLink | undefined;
  #socket: ListenSocket | undefined;
  #lock: WriterLock | undefined;
  #control: ControlListener | undefined;
  #app: App | undefined;
  #config: LoadedConfig | undefined;
  #teller: ReadinessTeller | undefined;
  /** Resolves once readiness is told. */
  #watching: Promise<void> | undefined;
  #capture: ConsoleCapture | undefined;
  #phase: WorkerPhase = { state: 'starting', since: new Date().toISOString(), startedAt: new Date().toISOString() };
  #stopping: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#paths = projectPaths(options.project);
    const { supervised, terminal, plainLog, environment, project, mode, watch, createApp } = options;
    this.#log = openWorkerLog(this.#paths, { supervised, terminal, plain: plainLog, runtimeId: this.#runtimeId });
    const stop = (reason: string): void => void this.#stop(EXIT.ok, reason);
    this.owned = new OwnerLink({ supervised, environment, paths: this.#paths, log: this.#log.logger, stop });
    const facts = { runtimeId: this.#runtimeId, log: this.#log, project, mode, watch, owner: this.owned.owner };
    this.#appStart = new AppStart(
      {
        ...facts,
        requestExit: (code, reason) => void this.#stop(code, reason),
        onReload: (phase) => this.owned.reload(phase),
      },
      createApp,
    );
  }

  async start(): Promise<void> {
    const { project, mode, supervised, parent, terminal, environment } = this.#options;
    process.umask(0o077);
    process.chdir(project);
    listenToSignals({
      terminal,
      ignoresHangup: supervised || hangupIgnoredHere(environment),
      stop: (reason) => void this.#stop(EXIT.ok, reason),
      force: (reason) => this.#end(EXIT.forced, reason),
      reopen: () => this.#log.reopen(),
      die: (kind, error) => this.#die(kind, error),
      tell: (text) => this.#log.logger.info(text),
    });
    if (supervised)
      this.#link = await linkToSupervisor({
        runtimeId: this.#runtimeId,
        parent,
        ...(this.#options.standby === true
          ? { prepare: (handed: Environment) => this.#appStart.prepare({ ...environment, ...handed }) }
          : {}),
        onLost: () => this.#end(EXIT.failed, 'the supervisor is gone'),
      });
    takeHanded(this.#link?.welcome.environment ?? {});
    this.#log.secrets.follow((values) => this.#link?.send({ type: 'secrets', values }));
    this.owned.begin();
    this.#socket = new ListenSocket(this.#link, supervised ? undefined : inheritedSocket(environment));
    if (existsSync(this.#paths.pendingSwitch)) return this.#finishSwitch();
    const loaded = await this.#appStart.read({ ...environment, ...this.#link?.welcome.environment });
    this.#configure(loaded);
    const note = volumeNote(this.#paths.stateDir, ensureStateFolder(this.#paths.stateDir));
    if (note !== undefined) this.#log.logger.info({}, note);
    this.owned.keepLog(loaded.config.supervisor.log);
    if (!(await this.owned.hasRoom(loaded.config.supervisor))) return this.#end(EXIT.ok, 'the restart window is spent');
    this.#lock = acquireWriterLock(this.#paths, { runtimeId: this.#runtimeId, owner: this.owned.owner, mode });
    this.owned.holdsFolder();
    if (existsSync(this.#paths.pendingSwitch)) return this.#finishSwitch(); // decided since
    this.#removeStaging();
    this.#log.logger.info(
      { version: VERSION, node: process.version, owner: this.owned.owner, mode, pid: process.pid },
      'worker starting',
    );
    this.#link?.listen((message, socket) => this.#hear(message, socket));
    const previous = formerEnd(this.#paths, this.#lock, this.#link?.welcome.previous);
    this.#capture = captureConsole(this.#log);
    const app = await this.#appStart.begin(loaded, { previous, ...this.#socket.handle(loaded.config.http) });
    this.#app = app;
    this.#control = await this.#openControl();
    await untilUp(app, { file: this.#paths.database, link: this.#link, owned: this.owned });
    if (this.#phase.state === 'starting') this.#up(app);
  }

  /** WORKER-5. Throws `switch_pending` if it cannot be finished here. */
  async #finishSwitch(): Promise<void> {
    const { finishSwitch } = await import('../../shared/recovery/switch.ts');
    const { project, mode } = this.#options;
    checkStateFolder(this.#paths.stateDir);
    this.#lock ??= acquireWriterLock(this.#paths, { runtimeId: this.#runtimeId, owner: this.owned.owner, mode });
    const { purpose = 'restore', names = {} } = finishSwitch(project) ?? {};
    const reason = `a ${purpose} is finished: the next start has the new state`;
    this.#log.logger.warn({ purpose, ...names }, reason);
    this.#link?.send({ type: 'stopping', code: EXIT.restartRequired, reason, switched: true });
    this.owned.ended(EXIT.restartRequired);
    this.#end(EXIT.restartRequired, reason);
  }

  /** A restore that was killed before it had decided left it. Whoever restores holds the writer lock, so none is under way. */
  #removeStaging(): void {
    const { stagingDir } = this.#paths;
    if (!existsSync(stagingDir)) return;
    try {
      rmSync(stagingDir, { recursive: true });
      this.#log.logger.info({ folder: stagingDir }, 'removed what a restore that was cut has left');
    } catch (error) {
      this.#log.logger.warn(
        { err: error, folder: stagingDir },
        'what a restore that was cut has left cannot be removed',
      );
    }
  }

  /** The start failed: reports the error and exits with its code. */
  fail(error: unknown): void {
    const { code, message: text } = coerceError(error);
    const message = this.#log.secrets.mask(text);
    this.#log.logger.fatal({ err: error, code }, 'worker could not start');
    this.#link?.send({ type: 'failure', message: message.slice(0, MESSAGE_CHARACTERS) });
    this.#end(ERRORS[code].exit, message);
  }

  /** Releases everything that a failed foreground start has taken. The exit code is recorded for the next start. */
  async abandon(error: unknown): Promise<void> {
    const { code, message } = coerceError(error);
    await this.#app?.stop(LAST_STEPS_MS, { code: ERRORS[code].exit, reason: code });
    await this.#control?.close();
    this.#lock?.ending(ERRORS[code].exit, this.#log.secrets.mask(message));
    this.#lock?.release();
    this.#capture?.release(); // the command prints to the original streams
    this.#log.flush();
    await this.#log.drained();
  }

  #configure(loaded: LoadedConfig): void {
    this.#config = loaded;
    this.#log.secrets.add(loaded.secrets);
    this.#log.setProject(withoutSecrets(loaded.config.host.name, this.#log.secrets.values));
    this.#log.setLevel(loaded.config.log_level);
    for (const warning of loaded.warnings) this.#log.logger.warn({ warning }, 'configuration warning');
    this.#link?.send({ type: 'settings', settings: supervisorSettings(loaded) });
  }

  #openControl(): Promise<ControlListener> {
    const status = (): Promise<RuntimeStatus> =>
      workerStatus({
        phase: this.#phase,
        runtimeId: this.#runtimeId,
        owner: this.owned.owner,
        mode: this.#options.mode,
        app: this.#app,
        socket: this.#socket?.holder ?? null,
      });
    return openWorkerControl({
      owner: this.owned.owner,
      ownerStop: this.owned.stopCommand,
      log: this.#log,
      app: () => this.#app,
      status,
      stop: (code, reason) => this.#stop(code, reason),
    });
  }

  #up(app: App): void {
    this.#enter('running');
    const address = app.address();
    this.#log.logger.info({ host: address?.host, port: address?.port }, 'worker up');
    this.#link?.send({ type: 'up', host: address?.host ?? null, port: address?.port ?? null });
    this.owned.up(app);
    if (this.#link !== undefined) this.#beat(() => this.#link?.send({ type: 'heartbeat' }));
    this.#watching = turns(ANSWER_TURNS).then(() => this.#watchOver(app));
  }

  #beat(beat: () => void): void {
    const watchdogMs = (): number => (this.#config?.config.supervisor.watchdogSeconds ?? WATCHDOG_SECONDS) * 1_000;
    this.#heartbeat = new Heartbeat({ beat, watchdogMs });
  }

  #watchOver(app: App): void {
    const watched = { paths: this.#paths, log: this.#log, config: () => this.#config };
    if (noticesNoSilence(this.owned.owner)) {
      const heartbeat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
      const beats = new Int32Array(heartbeat);
      this.#beat(() => void Atomics.add(beats, 0, 1));
      this.#options.guard?.(this.#runtimeId, { ...watched, heartbeat });
    } else this.#options.guard?.(this.#runtimeId, watched);
    if (this.#link === undefined || this.#stopping !== undefined) return;
    this.#teller = tellReadiness({
      app,
      send: (message) => this.#link?.send(message),
      onConfig: (version) => this.#follow(version),
    });
  }

  /** Applies a configuration that a reload has changed, because it may contain other limits for the supervisor. */
  #follow(version: string): void {
    if (version === this.#config?.version || this.#config === undefined) return;
    try {
      this.#configure(this.#appStart.readAgain());
    } catch (error) {
      this.#log.logger.warn({ err: error }, 'configuration changed again and is invalid now');
    }
  }

  #enter(state: WorkerPhase['state']): void {
    this.#phase = { ...this.#phase, state, since: new Date().toISOString() };
  }

  #hear(...[message, socket]: Parameters<SupervisorListener>): void {
    switch (message.type) {
      case 'listen':
        this.#socket?.handed(socket);
        return;
      case 'stop':
        void this.#stop(
          message.purpose === 'restart' ? EXIT.restartRequested : EXIT.ok,
          `${message.purpose} asked for by the supervisor`,
        );
        return;
      case 'reopen_logs':
        this.#log.reopen();
        return;
      case 'reload':
        void this.#reload(message.id, message.orRestart);
        return;
      case 'welcome':
      case 'prepare':
        return; // handled by the link
    }
  }

  /** Readiness is reported before the answer, so a status requested after the answer is up to date. */
  async #reload(id: number, orRestart: boolean): Promise<void> {
    const answer = await reloadAnswer(this.#app, orRestart);
    await this.#watching; // one that comes right after `up` is told of, too
    await this.#teller?.look();
    this.#link?.send({ type: 'reloaded', id, ...answer });
  }

  #die(kind: string, error: unknown): void {
    this.#log.logger.fatal({ err: error, kind }, 'error that nobody caught');
    const message = this.#log.secrets.mask(messageOf(error));
    this.#link?.send({ type: 'failure', message: `${kind}: ${message}`.slice(0, MESSAGE_CHARACTERS) });
    this.#end(EXIT.failed, message, { leftMs: 0 }); // whatever still runs may be broken
  }

  /** Starts the drain once. Coalesced: the first code counts. */
  #stop(code: 0 | 51 | 75, reason: string): Promise<void> {
    this.#stopping ??= this.#drain(code, reason);
    return this.#stopping;
  }

  async #drain(code: 0 | 51 | 75, reason: string): Promise<void> {
    const limitMs = (this.#config?.config.supervisor.stopTimeoutSeconds ?? 8) * 1_000 - LAST_STEPS_MS;
    const began = performance.now();
    this.#enter('draining');
    this.#log.logger.info({ code, reason }, 'worker stopping');
    this.#link?.send({ type: 'stopping', code, reason });
    this.owned.stopping(reason);
    const limit = { limitMs, graceMs: LAST_STEPS_MS / 2 };
    const cut = this.#app === undefined ? [] : await stopApp(this.#app, { code, reason }, limit);
    if (cut.length > 0) this.#log.logger.warn({ cut }, 'drain was cut');
    this.#log.logger.info({ code, ms: Math.round(performance.now() - began) }, 'worker stopped');
    this.owned.ended(code);
    this.#end(code, reason, { cut, leftMs: limitMs + LAST_STEPS_MS / 2 - (performance.now() - began) });
  }

  #end(code: ExitCode, reason: string, { cut = [], leftMs = LAST_LINES_MS }: Partial<Ending> = {}): void {
    this.#heartbeat?.stop();
    this.#teller?.stop();
    this.#lock?.ending(code, reason, cut);
    if (code === EXIT.forced) this.#capture?.release();
    else this.#capture?.keepToTheEnd();
    const lost = this.#log.flush();
    if (lost !== undefined) this.#link?.send({ type: 'log_lost', ...lost });
    const linesMs = code === EXIT.forced ? SHORT_MS : Math.max(SHORT_MS, Math.min(LAST_LINES_MS, leftMs));
    const last = Promise.all([
      within(this.#log.drained(), { ms: linesMs, late: undefined }),
      within(Promise.resolve(this.#control?.close()), { ms: SHORT_MS, late: undefined }),
    ]);
    void last.finally(() => this.#options.exit(code));
  }
}
