// The composition root: the only file that wires. Database → engine → events → HTTP, in this order up, in the reverse order down.
//
//   A1  Up means: the server listens and the first assembly has a result, good or bad. A database that does not open, a plugin that
//       fails, a required account that is missing end no process: readiness says so.
//   A2  A database that opens later starts everything that was waiting for it.
//   A3  Stop order: ingress closed, streams told, handlers drained, sends ended, accounts, stores. Each step has a limit and a line of log.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { within } from '../shared/abort.ts';
import { systemClock } from '../shared/clock.ts';
import { loadConfig } from '../shared/config/load.ts';
import type { ProjectId } from '../shared/identifiers.ts';
import { projectPaths } from '../shared/paths.ts';
import { coerceError, messageOf, SvcError } from '../shared/svc-error.ts';
import { VERSION } from '../shared/version.ts';
import { chatView } from './adapters/sandbox/chat-view.ts';
import { conversationId, sandboxArrival, sandboxPress } from './adapters/sandbox/arrival.ts';
import type { App, AppOptions } from './app-options.ts';
import type { Core } from './core.ts';
import { DatabaseHost, threadRunner, type DatabaseState } from './database/database-host.ts';
import { Housekeeping } from './database/housekeeping.ts';
import { countStarts, loadProjectState, recordStart, readStarts, type ProjectState } from './database/project-state.ts';
import { Engine } from './engine.ts';
import { createEventGateway } from './events/event-gateway.ts';
import { recordEvents } from './events/event-history.ts';
import type { NewEvent } from './events/event-types.ts';
import { createEventRetention, type EventRetention } from './events/retention.ts';
import { failpointsOf, noFailpoint } from './failpoints.ts';
import type { Caller, EventGateway } from './http/host-port.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { createHttpPort } from './http-port.ts';
import { forgetUnfinished } from './ingress/idempotency.ts';
import { createMetrics, PluginMetrics, type Metrics } from './metrics/metrics.ts';
import { DiskBudget } from './readiness/disk-budget.ts';
import { Readiness } from './readiness/readiness.ts';
import { watchProject } from './runtime/watch.ts';

const READINESS_LOOK_MS = 500;
const HTTP_DRAIN_SHARE = 0.25;
/** systemd counts a restart as a failure: its own limit is five starts in two minutes. */
const SYSTEMD_STARTS = 4;
const SYSTEMD_WINDOW_MS = 120_000;

export function createApp(options: AppOptions): App {
  return new Host(options);
}

class Host implements App {
  readonly up: Promise<void>;
  readonly #options: AppOptions;
  readonly #core: Core & { projectId: ProjectId };
  readonly #database: DatabaseHost;
  readonly #engine: Engine;
  readonly #readiness: Readiness;
  readonly #metrics: Metrics;
  readonly #pluginMetrics: PluginMetrics;
  readonly #disk: DiskBudget;
  readonly #housekeeping: Housekeeping;
  readonly #http: HttpServer;
  readonly #startedAt = systemClock.now();
  #state: ProjectState | undefined;
  #head = 0;
  #restarts = 0;
  #events: EventGateway | undefined;
  #retention: EventRetention | undefined;
  #starting: Promise<void> | undefined;
  #address: { readonly host: string; readonly port: number } | undefined;
  #endWatch: (() => Promise<void>) | undefined;
  #looking: NodeJS.Timeout | undefined;
  #draining = false;
  #stopping: ReturnType<App['stop']> | undefined;

  constructor(options: AppOptions) {
    this.#options = options;
    const { project, mode, environment, log, runtimeId } = options;
    const paths = projectPaths(project);
    const loaded = loadConfig({ project, mode, environment });
    const failpoints = FAILPOINTS ? environment['SVC_FAILPOINTS'] : undefined;
    const file = join(project, loaded.config.database.filename);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#database = new DatabaseHost({
      file,
      clock: systemClock,
      makeRunner: threadRunner(file, failpoints),
      onState: (state) => this.#databaseChanged(state),
      observer: {
        committed: (units, ms) => {
          this.#metrics.commitSeconds.observe(ms / 1_000);
          this.#metrics.commitUnits.inc(units);
        },
      },
    });
    this.#core = {
      runtimeId,
      projectId: '' as ProjectId,
      clock: systemClock,
      writer: this.#database,
      reader: this.#database.reader,
      log: log.logger,
      point: FAILPOINTS ? failpointsOf(failpoints) : noFailpoint,
    };
    this.#engine = new Engine({
      core: this.#core,
      project,
      mode,
      environment,
      loaded,
      lockfile: paths.lockfile,
      mediaFolder: paths.mediaDir,
      admit: () => this.#admit(),
      observer: {
        accepted: (endpoint, kind) => this.#metrics.accepted.inc({ endpoint, kind }),
        duplicate: (endpoint, conflict) => this.#metrics.duplicates.inc({ endpoint, conflict: String(conflict) }),
        handled: ({ endpoint }, outcome) => this.#metrics.handled.inc({ endpoint, outcome }),
        sent: ({ endpoint }, outcome) => this.#metrics.sends.inc({ endpoint, outcome }),
        pluginFailed: (slot) => this.#metrics.pluginFailures.inc({ plugin: `root/${slot}` }),
        counted: (counter, labels) => this.#pluginMetrics.count(counter, labels),
        endpointChanged: () => this.#readiness.look(),
        secrets: (texts) => log.secrets.add(texts),
        served: (generation) => {
          this.#pluginMetrics.serve(generation.candidate.counters, generation.candidate.gauges);
          log.setLevel(generation.loaded.config.log_level);
          this.#readiness.look();
        },
      },
    });
    this.#readiness = new Readiness({
      clock: systemClock,
      facts: () => ({
        database: this.#database.state,
        generation: this.#engine.runtime.current?.number ?? null,
        failure: this.#engine.runtime.lastFailure?.message,
        requirements: this.#engine.runtime.loaded.config.http.readiness,
        endpoint: (id) => this.#endpointFact(id),
      }),
      identity: () => ({
        project: this.#engine.runtime.loaded.config.host.name,
        version: VERSION,
        runtimeId,
        configVersion: this.#engine.runtime.loaded.version,
        ingress: this.#engine.gate.state.state,
      }),
      changed: ({ ready, state, checks }) => {
        const unmet = checks.filter((check) => !check.ready).map(({ component }) => component);
        log.logger.info({ ready, state, unmet }, 'readiness changed');
        this.#tell({ type: 'ready.changed', at: systemClock.now(), runtimeId, data: { ready, state, unmet } });
      },
    });
    this.#disk = new DiskBudget({
      folders: [paths.stateDir, paths.dataDir],
      limits: () => this.#engine.runtime.loaded.config.disk,
      clock: systemClock,
      changed: (low) => (low === undefined ? log.logger.info({}, 'disk has room again') : log.logger.error({ reason: low }, 'disk budget is used up: ingress is refused')),
    });
    this.#housekeeping = new Housekeeping(this.#core, () => {
      const { inbox, outbox } = this.#engine.runtime.loaded.config;
      return { bodyDays: inbox.bodyDays, idDays: inbox.idDays, outboxDays: outbox.days };
    });
    this.#metrics = createMetrics(
      { version: VERSION, runtimeId },
      {
        ready: () => this.#readiness.ready,
        generation: () => this.#engine.runtime.current?.number ?? 0,
        restarts: () => this.#restarts,
        inboxPending: () => this.#engine.inbox.pending,
        inboxRunning: () => this.#engine.dispatcher.running,
        outboxRunning: () => this.#engine.sender.running,
        eventHead: () => this.#head,
        eventOldest: () => this.#retention?.oldest() ?? 0,
        endpoints: () => this.#engine.endpoints.all().map(({ spec, state }) => ({ id: spec.id, online: state.state === 'online' })),
        disk: () => this.#disk.use,
        ingressPaused: () => this.#engine.gate.state.state === 'paused',
        logs: () => log.counts(),
      },
    );
    this.#pluginMetrics = new PluginMetrics(this.#metrics.registry);
    const port = createHttpPort({
      options,
      engine: this.#engine,
      readiness: this.#readiness,
      metrics: this.#metrics,
      events: () => this.#events,
      status: () => this.status(),
      admit: () => this.#admit(),
      reload: (caller, { orRestart }) => this.reload(caller.actor, { orRestart }),
      requestRestart: (caller) => this.#requestRestart(caller),
      sandbox: { arrival: sandboxArrival, press: sandboxPress, conversation: conversationId, view: chatView },
    });
    const { host, port: tcpPort } = loaded.config.http;
    this.#http = createHttpServer({
      port,
      log: log.logger,
      staticDir: consoleFolder(),
      listen: options.listenHandle === undefined ? { host, port: tcpPort } : { handle: options.listenHandle as object },
    });
    this.up = this.#start();
    this.up.catch(() => {}); // whoever waits for `up` hears of it
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
    return this.#readiness.ready;
  }

  async #start(): Promise<void> {
    this.#database.onHead((head) => {
      this.#head = head;
    });
    await this.#database.open();
    if (this.#database.state.kind === 'open') await this.#begin();
    else this.#log.error({ reason: this.#database.state.kind === 'failed' ? this.#database.state.reason : '' }, 'database could not be opened: tried again each second');
    this.#disk.start();
    this.#address = await this.#http.listen();
    this.#readiness.started();
    this.#looking = setInterval(() => this.#readiness.look(), READINESS_LOOK_MS);
    this.#looking.unref();
    if (this.#options.watch) await this.#watch();
    this.#log.info({ ...this.#address }, 'up');
  }

  /** Everything that needs the database; once, whenever that opens. */
  #begin(): Promise<void> {
    this.#starting ??= this.#beginOnce().catch((error: unknown) => {
      this.#starting = undefined;
      this.#log.error({ err: error }, 'start over the opened database failed: tried again when it is next usable');
    });
    return this.#starting;
  }

  async #beginOnce(): Promise<void> {
    const { writer, reader, log, clock } = this.#core;
    const state = await loadProjectState(writer, reader);
    this.#state = state;
    this.#core.projectId = state.projectId;
    this.#head = Math.max(this.#head, state.head);
    await this.#recordStart();
    this.#restarts = Math.max(0, (await countStarts(reader)) - 1);
    this.#retention = createEventRetention(
      { reader, writer, clock, log, head: () => this.#head, limits: () => this.#engine.runtime.loaded.config.events.history },
      { oldest: state.oldest },
    );
    this.#events = createEventGateway({
      reader,
      onHead: (listener) => writer.onHead(listener),
      head: () => this.#head,
      oldest: () => this.#retention?.oldest() ?? 1,
      epoch: state.epoch,
      projectId: state.projectId,
      clock,
      log,
      metrics: {
        clients: () => {},
        gap: (reason) => this.#metrics.gaps.inc({ reason }),
        replayed: () => {},
        slowClosed: () => this.#metrics.slowCloses.inc(),
      },
    });
    await this.#engine.load();
    await this.#engine.start();
    this.#retention.start();
    this.#housekeeping.start();
  }

  async #recordStart(): Promise<void> {
    const { runtimeId, owner, mode, previous } = this.#options;
    const at = this.#startedAt;
    const { writer } = this.#core;
    const row = { runtime_id: runtimeId, at, pid: process.pid, owner, version: VERSION, node: process.version, previous_end: previous.end, previous_code: previous.code, previous_signal: previous.signal, previous_detail: previous.detail };
    const data = { version: VERSION, node: process.version, owner, mode, previousEnd: previous.end, previousCode: previous.code };
    const events = recordEvents([{ type: 'runtime.started', at: systemClock.now(), runtimeId, data }]);
    await writer.commit({ name: 'runtime.started', statements: [forgetUnfinished(), recordStart(row), ...events] }); // refused: this start is in the ledger already
  }

  async #watch(): Promise<void> {
    this.#endWatch = await watchProject({
      project: this.#options.project,
      clock: systemClock,
      changed: (files) => {
        this.#log.info({ files }, 'files changed');
        this.reload('watch', { orRestart: true }).catch(() => {}); // said by the runtime
      },
    });
  }

  async reload(actor: string, { orRestart }: { readonly orRestart: boolean }): Promise<{ readonly generation: number }> {
    try {
      const generation = await this.#engine.runtime.reload(actor);
      this.#http.tokensChanged();
      return { generation: generation.number };
    } catch (error) {
      const known = coerceError(error);
      if (known.code === 'restart_required' && orRestart) this.#options.requestExit(75, known.message);
      throw refusedReload(known);
    }
  }

  async #requestRestart(caller: Caller): Promise<void> {
    const { owner } = this.#options;
    if (owner === 'foreground') throw new SvcError('no_restart_owner', 'nothing would start this process again', { hint: 'start it with svc runtime start --daemon, systemd, launchd or a container' });
    if (owner === 'systemd') await this.#refuseInFullWindow();
    await this.#tell({ type: 'runtime.restart_requested', at: systemClock.now(), runtimeId: this.#core.runtimeId, actor: caller.actor, data: { reason: 'requested', exitCode: 51 } });
    // The answer goes out first.
    setTimeout(() => this.#options.requestExit(51, `requested by ${caller.actor}`), 50);
  }

  async #refuseInFullWindow(): Promise<void> {
    const since = systemClock.now() - SYSTEMD_WINDOW_MS;
    const recent = (await readStarts(this.#core.reader, SYSTEMD_STARTS)).filter(({ at }) => at > since);
    if (recent.length < SYSTEMD_STARTS) return;
    const oldest = Math.min(...recent.map(({ at }) => at));
    throw new SvcError('too_many_requests', `systemd counts a restart as a failure, and ${recent.length} starts lie in its window`, { details: { retryAfterMs: oldest - since } });
  }

  async status(): Promise<Readonly<Record<string, unknown>>> {
    const { options, runtime } = { options: this.#options, runtime: this.#engine.runtime };
    const { config, version } = runtime.loaded;
    const report = this.#readiness.report();
    const starts = this.#database.state.kind === 'open' ? await readStarts(this.#core.reader, 10).catch(() => []) : [];
    return {
      name: config.host.name,
      kind: config.host.kind,
      version: VERSION,
      node: process.version,
      projectId: this.#state?.projectId ?? null,
      runtimeId: options.runtimeId,
      generation: runtime.current?.number ?? null,
      draining: runtime.draining.map(({ number, running }) => ({ generation: number, running })),
      configVersion: version,
      startedAt: new Date(this.#startedAt).toISOString(),
      mode: options.mode,
      owner: options.owner,
      ready: report.ready,
      state: report.state,
      reasons: report.checks.filter((check) => !check.ready).map(({ component, reason }) => `${component}: ${reason}`),
      restarts: this.#restarts,
      lastExits: starts.filter(({ previous_end }) => previous_end !== 'first').map((start) => ({ before: start.runtime_id, at: new Date(start.at).toISOString(), end: start.previous_end, code: start.previous_code, signal: start.previous_signal })),
      ingress: this.#engine.gate.state,
      epoch: this.#state?.epoch ?? null,
      head: this.#head,
      inbox: this.#engine.inbox.pending,
      lastFailure: runtime.lastFailure === undefined ? null : { code: runtime.lastFailure.code, reason: runtime.lastFailure.message },
    };
  }

  stop(limitMs: number): ReturnType<App['stop']> {
    this.#stopping ??= this.#stopAll(limitMs);
    return this.#stopping;
  }

  async #stopAll(limitMs: number): ReturnType<App['stop']> {
    const cut: { name: string; reason: string }[] = [];
    const step = async (name: string, ms: number, work: () => Promise<unknown>): Promise<void> => {
      const startedAt = performance.now();
      try {
        const end = await within(work(), ms, 'late' as const);
        if (end === 'late') cut.push({ name, reason: `did not end within ${Math.round(ms)} ms` });
      } catch (error) {
        cut.push({ name, reason: messageOf(error) });
      }
      this.#log.info({ step: name, ms: Math.round(performance.now() - startedAt) }, 'stopping');
    };
    this.#draining = true;
    clearInterval(this.#looking);
    this.#readiness.draining();
    await step('watch', 500, async () => this.#endWatch?.());
    await step('http', limitMs * HTTP_DRAIN_SHARE, async () => this.#http.drain(limitMs * HTTP_DRAIN_SHARE));
    await step('engine', limitMs * 0.6, async () => {
      const left = await this.#engine.stop(limitMs * 0.55);
      if (left.handlers > 0) cut.push({ name: 'handlers', reason: `${left.handlers} did not end: they run again at the next start` });
      if (left.sends > 0) cut.push({ name: 'sends', reason: `${left.sends} did not end: they go out again at the next start` });
    });
    this.#housekeeping.stop();
    this.#retention?.stop();
    this.#disk.stop();
    await step('database', limitMs * 0.1, async () => this.#database.close());
    await step('http connections', 500, async () => this.#http.close());
    return { cut };
  }

  get #log(): Core['log'] {
    return this.#core.log;
  }

  /** Throws while nothing more may be taken in. */
  #admit(): void {
    if (this.#draining) throw new SvcError('draining', 'the host is stopping', { details: { retryAfterMs: 2_000 } });
    if (this.#database.state.kind === 'failed') throw new SvcError('storage_unavailable', this.#database.state.reason, { details: { retryAfterMs: 2_000 } });
    this.#disk.refuseWhenLow();
  }

  #endpointFact(id: string) {
    const runner = this.#engine.endpoints.get(id);
    if (runner === undefined) return undefined;
    const { state, lastError } = runner.state;
    return { state, reason: lastError?.reason, remedy: lastError?.remedy };
  }

  #databaseChanged(state: DatabaseState): void {
    if (state.kind === 'open') {
      this.#log.info({}, 'database is open');
      // At the first start `#start` waits for it; later it begins, or the runners go on.
      if (this.#address !== undefined) void this.#begin().then(() => this.#wakeAll());
    } else if (state.kind === 'failed') this.#log.error({ code: state.code, reason: state.reason, hint: state.hint }, 'database is not usable');
    this.#readiness.look();
  }

  #wakeAll(): void {
    this.#engine.dispatcher.wake();
    this.#engine.sender.wake();
    this.#engine.timers.wake();
    this.#readiness.look();
  }

  /** An event of its own unit; what cannot be stored is in the log already. */
  async #tell(event: NewEvent): Promise<void> {
    if (this.#state === undefined) return;
    await this.#core.writer.commit({ name: event.type, statements: recordEvents([event]) }).catch(() => {});
  }
}

function refusedReload(error: SvcError): SvcError {
  if (error.code === 'restart_required' || error.code === 'storage_unavailable') return error;
  return new SvcError('reload_refused', error.message, { cause: error, ...(error.hint === undefined ? {} : { hint: error.hint }), details: { ...error.details, reason: error.code } });
}

/** The chat page beside the bundle; the built one where the sources run. */
function consoleFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return import.meta.url.endsWith('.ts') ? join(here, '..', 'dist', 'console') : join(here, 'console');
}
