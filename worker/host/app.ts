// The composition root: the only file that connects the parts. Parts start in this order: address, database, engine, events, requests.
//
//   APP-1  The server listens before plugins load and the database opens. Probes and the readiness report are answered from then on, other
//          requests wait until the host is up. Up means that the first assembly has a result, good or bad. A failed database, a failed
//          plugin or a missing required account ends no process. Readiness reports it.
//   APP-2  A database that opens later starts everything that needs it.
//   APP-3  Stop order: nothing new begins, streams told, handlers drained, sends ended, accounts, stores. Each step has a time limit and a log
//          line.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cut } from '../../shared/api/control.ts';
import { unwritableDatabase } from '../../shared/files/database-access.ts';
import { coerceError } from '../../shared/svc-error.ts';
import { within } from '../../shared/time/abort.ts';
import { systemClock } from '../../shared/time/clock.ts';
import { conversationId, sandboxArrival, sandboxPress } from '../adapters/sandbox/arrival.ts';
import { chatView } from '../adapters/sandbox/chat-view.ts';
import { type Core, reasonOf } from '../core/core.ts';
import { drainTimes } from '../core/drain-times.ts';
import { ANSWER_TURNS, turns } from '../core/turns.ts';
import type { DatabaseState } from '../database/database-host.ts';
import { fileFacts, loadProjectState } from '../database/project-state.ts';
import { countStarts } from '../database/starts-ledger.ts';
import { cutOf } from '../engine/left-at-work.ts';
import type { AcceptanceApi } from '../http/api/acceptance-api.ts';
import type { HostApi } from '../http/api/host-api.ts';
import type { NextGeneration, ReloadOptions } from '../http/api/system-api.ts';
import { createHttpServer, type HttpServer } from '../http/server/server.ts';
import { StartGate } from '../http/server/start-gate.ts';
import { accountWarnings } from '../runtime/checks/account-findings.ts';
import type { Candidate } from '../runtime/loading/assemble.ts';
import { watchProject } from '../runtime/loading/watch.ts';
import { endIfReplaced, openEvents, recordThisStart, serveFirst } from './app-begin.ts';
import type { App, AppOptions, StopCause } from './app-options.ts';
import { Parts } from './app-parts.ts';
import { refusedReload, requestRestart, restartInstead } from './app-restart.ts';
import { hostStatus } from './app-status.ts';
import { createHostApi } from './host-api.ts';
import { createIngressApi } from './ingress.ts';
import { type OperatorApi, operatorApi } from './operator-api.ts';

const READINESS_LOOK_MS = 500;
const BEGIN_RETRY_MS = 1_000;
const STOPPED: StopCause = { code: 0, reason: 'stopped' };

export function createApp(options: AppOptions): App {
  return new Host(options);
}

class Host implements App {
  readonly up: Promise<void>;
  readonly #options: AppOptions;
  readonly #parts: Parts;
  readonly #http: HttpServer;
  #starting: Promise<void> | undefined;
  readonly #gate = new StartGate();
  #address: { readonly host: string; readonly port: number } | undefined;
  #isUp = false;
  #endWatch: (() => Promise<void>) | undefined;
  #looking: NodeJS.Timeout | undefined;
  #stopping: ReturnType<App['stop']> | undefined;

  constructor(options: AppOptions) {
    this.#options = options;
    this.#parts = new Parts(options, (state) => this.#databaseChanged(state));
    const { host, port } = this.#parts.loaded.config.http;
    this.#http = createHttpServer({
      port: this.#httpPort(),
      log: options.log.logger,
      staticDir: consoleFolder(),
      listen: options.listenHandle === undefined ? { host, port } : { handle: options.listenHandle },
      gate: this.#gate,
    });
    this.up = this.#start();
    this.up.catch(() => this.#gate.refuse()); // the caller that awaits `up` gets the error
  }

  get runtimeId(): string {
    return this.#options.runtimeId;
  }
  get server(): HttpServer['server'] {
    return this.#http.server;
  }
  address(): { readonly host: string; readonly port: number } | undefined {
    return this.#address;
  }
  isReady(): boolean {
    return this.#parts.readiness.ready;
  }
  isOpening(): boolean {
    return this.#parts.database.state.kind === 'opening';
  }
  status(): Promise<Readonly<Record<string, unknown>>> {
    return hostStatus(this.#parts);
  }
  get operators(): OperatorApi {
    return operatorApi(this.#parts);
  }

  #httpPort(): HostApi {
    const { engine, readiness, metrics, facts, database } = this.#parts;
    return createHostApi({
      options: this.#options,
      engine,
      readiness,
      metrics,
      storage: () => database.state,
      events: () => facts.events,
      status: () => this.status(),
      admit: () => this.#parts.admit(),
      reload: (caller, options) => this.reload(caller.actor, options),
      requestRestart: (caller, keep) => requestRestart(this.#parts, caller.actor, keep),
      jobs: this.#parts.jobs.api,
      checkpoints: this.#parts.recovery.api,
      releases: this.#parts.releases.api,
      acceptance: lazyAcceptance(this.#parts),
      alerts: this.#parts.alerts.api,
      ingress: createIngressApi(engine, this.#parts.jobs),
      sandbox: { arrival: sandboxArrival, press: sandboxPress, conversation: conversationId, view: chatView },
      workroom: this.#parts.workroom,
    });
  }

  async #start(): Promise<void> {
    const { database, facts, disk, readiness } = this.#parts;
    database.onHead((head) => {
      facts.head = head;
    });
    await this.#parts.begin();
    this.#address = await this.#http.listen(); // an address in use ends the start before it has any effect
    this.#log.info({ ...this.#address }, 'listening');
    // Plugins are assembled on this thread while the writer thread opens the database.
    const opened = database.open();
    const first = this.#parts.engine.runtime.assembleFirst();
    first.catch(() => {}); // reported by the start of the engine
    const room = disk.lookFirst(); // never rejects
    await opened;
    await room; // without room the host is not ready from the start
    if (database.state.kind === 'open') await this.#begin(first);
    else {
      const reason = database.state.kind === 'failed' ? database.state.reason : '';
      this.#log.error({ reason }, 'database could not be opened: tried again each second');
      first.then(({ abort }) => abort.abort()).catch(() => {}); // assembled too long ago when the database opens
    }
    this.#refuseBadConfiguration();
    if (facts.draining) return; // asked to stop before it was up
    this.#isUp = true;
    if (this.#isOpen()) await this.#begin(); // the database may have opened meanwhile
    readiness.started();
    this.#looking = setInterval(() => readiness.look(), READINESS_LOOK_MS);
    this.#looking.unref();
    await turns(ANSWER_TURNS); // whoever waits for readiness is answered first
    if (!(await this.#isComplete())) return;
    this.#gate.open();
    if (this.#options.watch) await this.#watch();
    this.#log.info({ ...this.#address }, 'up');
    void turns(ANSWER_TURNS).then(() => this.#run());
    disk.start();
  }

  /** False: svc was replaced on the disk meanwhile, and the process ends with 75. */
  async #isComplete(): Promise<boolean> {
    try {
      await this.#http.complete();
      return true;
    } catch (error) {
      if (endIfReplaced(this.#parts, error)) return false;
      throw error;
    }
  }

  /** Plugin keys that their schema rejects, and another store of the journal, are an invalid configuration: the process exits with 78. */
  #refuseBadConfiguration(): void {
    if (this.#parts.workroom.refused !== undefined) throw this.#parts.workroom.refused;
    const { lastFailure, current } = this.#parts.engine.runtime;
    if (current === undefined && (lastFailure?.code === 'config_invalid' || lastFailure?.code === 'secret_invalid'))
      throw lastFailure;
  }

  #isOpen(): boolean {
    return this.#parts.database.state.kind === 'open';
  }

  /** Starts everything that needs the database. Runs once, when the database opens. */
  #begin(first?: Promise<Candidate>): Promise<void> {
    this.#starting ??= this.#beginOnce(first).catch((error: unknown) => {
      this.#starting = undefined;
      if (endIfReplaced(this.#parts, error)) return;
      this.#log.error({ err: error }, 'start over the opened database failed: tried again');
      systemClock.after(BEGIN_RETRY_MS, () => {
        if (this.#isOpen() && !this.#parts.facts.draining) void this.#begin().then(() => this.#wakeAll());
      });
    });
    return this.#starting;
  }

  async #beginOnce(first?: Promise<Candidate>): Promise<void> {
    const { core, facts, engine, housekeeping, file } = this.#parts;
    // The two writes share one commit, because each would cost an fsync. Stored state is read meanwhile.
    const stored = [loadProjectState(core.writer, core.reader, fileFacts(file)), recordThisStart(this.#parts)] as const;
    const loaded = turns(1).then(() => engine.load());
    const [state] = await Promise.all([...stored, loaded]);
    const projectId = await this.#parts.workroom.adopted(state.projectId);
    facts.state = { ...state, projectId };
    if (state.isCopy)
      this.#log.warn({ epoch: state.epoch }, 'the database was restored or copied: events begin a new timeline');
    core.projectId = projectId;
    facts.head = Math.max(facts.head, state.head);
    const starts = [...(await countStarts(core.reader)).values()];
    facts.restarts = Math.max(0, starts.reduce((sum, n) => sum + n, 0) - 1);
    openEvents(this.#parts, facts.state);
    await this.#parts.workroom.open();
    if (this.#parts.workroom.refused !== undefined) return; // ends the start
    await this.#parts.jobs.start();
    await serveFirst(this.#parts, first);
    facts.retention?.start();
    housekeeping.start();
    this.#parts.workroom.start();
    this.#parts.recovery.start();
    this.#parts.releases.start();
    if (this.#options.mode !== 'test') this.#parts.alerts.start({ hasCrashed: facts.previous.end === 'crashed' });
    void this.#parts.media.removeHalves();
    if (this.#isUp) this.#run();
  }

  /** Runs once the host is up, after requests that waited for that. */
  #run(): void {
    const { facts, engine } = this.#parts;
    if (!this.#isOpen() || facts.draining) return;
    engine.dispatcher.start();
    engine.sender.start();
    engine.timers.start();
    engine.outside.start();
  }

  async #watch(): Promise<void> {
    this.#endWatch = await watchProject({
      project: this.#options.project,
      clock: systemClock,
      changed: (files) => {
        this.#log.info({ files }, 'files changed');
        this.reload('watch', { orRestart: true }).catch(() => {}); // the runtime reports it
      },
      failed: (error) => this.#log.warn({ err: error }, 'not every change of a file is seen: svc runtime reload'),
    });
  }

  async reload(actor: string, options: ReloadOptions): Promise<NextGeneration> {
    this.#options.onReload?.('begun');
    try {
      const generation = await this.#parts.engine.runtime.reload(actor, options);
      this.#http.tokensChanged();
      this.#parts.workroom.reloaded();
      await this.#parts.jobs.takeInNow();
      return { generation: generation.number, warnings: accountWarnings(this.#parts.core, generation) };
    } catch (error) {
      const known = coerceError(error);
      if (known.code === 'restart_required' && options.orRestart)
        await restartInstead(this.#parts, known.message, options.keep);
      throw refusedReload(known, this.#options.owner);
    } finally {
      this.#options.onReload?.('ended');
    }
  }

  stop(...[limitMs, end = STOPPED, onCut = () => {}]: Parameters<App['stop']>): ReturnType<App['stop']> {
    return (this.#stopping ??= this.#stopAll(limitMs, end, onCut));
  }

  async #stopAll(limitMs: number, end: StopCause, onCut: (cut: Cut) => void): ReturnType<App['stop']> {
    const { facts, readiness, engine, housekeeping, disk } = this.#parts;
    const left = drainTimes(limitMs);
    const cut: Cut[] = [];
    const add = (part: Cut): void => {
      cut.push(part);
      onCut(part);
    };
    const step = (name: string, ms: number, work: () => Promise<unknown>): Promise<void> =>
      this.#step({ name, ms, cut: (reason) => add({ name, count: null, reason }) }, work);
    engine.dispatcher.rest(); // new messages are left to the next start: a handler begun now would only be cut
    await this.#http.leaveHeldSocket(left('received'));
    await turns(ANSWER_TURNS); // requests already received are served
    facts.draining = true;
    this.#http.beginNothing();
    readiness.draining();
    clearInterval(this.#looking);
    // During a start, parts are still being opened and cannot be closed. So its end is awaited.
    await step('start', left('start'), () => this.up.catch(() => {}));
    await step('event', left('event'), () => this.#tellStopping(end));
    await step('watch', left('watch'), async () => this.#endWatch?.());
    await step('http', left('http'), async () => this.#http.drain(left('http')));
    await step('jobs', left('event'), () => this.#parts.jobs.stop());
    await step('checkpoint', left('event'), () => this.#parts.recovery.stop());
    await step('release', left('event'), () => this.#parts.releases.stop());
    await step('alerts', left('event'), () => this.#parts.alerts.stop());
    await step('engine', left('accounts'), () => engine.stop(left, (what, count) => cutOf(what, count).forEach(add)));
    for (const part of [housekeeping, facts.retention, disk]) part?.stop();
    await step('workroom', left('accounts'), () => this.#parts.workroom.stop());
    await step('database', left('database'), () => this.#parts.closeDatabase()); // if cut short, the next start recovers the WAL
    await step('http connections', left('connections'), async () => this.#http.close());
    return { cut };
  }

  #tellStopping({ code, reason }: StopCause): Promise<void> {
    const { core } = this.#parts;
    const data = { reason, exitCode: code };
    return this.#parts.tell({ type: 'runtime.stopping', at: core.clock.now(), runtimeId: core.runtimeId, data });
  }

  async #step(
    { name, ms, cut }: { readonly name: string; readonly ms: number; readonly cut: (reason: string) => void },
    work: () => Promise<unknown>,
  ): Promise<void> {
    const startedAt = performance.now();
    try {
      const end = await within(work(), { ms, late: 'late' as const });
      if (end === 'late') cut(`did not end within ${Math.round(ms)} ms`);
    } catch (error) {
      cut(reasonOf(this.#parts.core, error)); // the text is stored, so secrets are masked
    }
    this.#log.info({ step: name, ms: Math.round(performance.now() - startedAt) }, 'stopping');
  }

  get #log(): Core['log'] {
    return this.#parts.core.log;
  }

  #databaseChanged(state: DatabaseState): void {
    if (state.kind === 'open') {
      this.#log.info({}, 'database is open');
      // At the first start, `#start` waits for the database. Later it begins here, or the runners continue.
      if (this.#isUp) void this.#begin().then(() => this.#wakeAll());
    } else if (state.kind === 'failed') {
      const { path, user } = unwritableDatabase(this.#parts.file) ?? {};
      const { code, reason, hint } = state;
      this.#log.error({ code, reason, hint, path, user }, 'database is not usable');
    }
    this.#parts.readiness.look();
  }

  /** The database may have failed just when the runners were to start. Starting them again wakes them. */
  #wakeAll(): void {
    if (this.#starting !== undefined) this.#run();
    this.#parts.readiness.look();
  }
}

/** Loaded by the first question. */
function lazyAcceptance(parts: Parts): AcceptanceApi {
  let loading: Promise<AcceptanceApi> | undefined;
  const load = (): Promise<AcceptanceApi> => {
    loading ??= import('./acceptance/acceptance.ts').then(({ createAcceptance }) => createAcceptance(parts));
    return loading;
  };
  return {
    judge: async (span) => (await load()).judge(span),
    accept: async (caller, ask, keep) => (await load()).accept(caller, ask, keep),
  };
}

/** The chat page beside the bundle, or the built one in dist/ when sources run. */
function consoleFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return import.meta.url.endsWith('.ts') ? join(here, '..', '..', 'dist', 'console') : join(here, 'console');
}
