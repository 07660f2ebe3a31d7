// Makes and connects the parts of the host: database, engine, readiness, metrics, disk budget, housekeeping. Nothing runs yet.
// Values that only the open database knows are in `facts`, which each part reads when needed.
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { PreviousEnd } from '../../shared/api/ipc.ts';
import { type LoadedConfig, loadConfig } from '../../shared/config/load.ts';
import { fromProject } from '../../shared/files/machine-paths.ts';
import { projectPaths } from '../../shared/files/paths.ts';
import { endpointId, type ProjectId } from '../../shared/identifiers.ts';
import { withoutSecrets } from '../../shared/log/redaction.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { failpointsOf, noFailpoint } from '../../shared/process/failpoints.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { systemClock } from '../../shared/time/clock.ts';
import { VERSION } from '../../shared/version.ts';
import type { Core } from '../core/core.ts';
import { DatabaseHost, type DatabaseState, threadRunner } from '../database/database-host.ts';
import type { ProjectState } from '../database/project-state.ts';
import { LOG_MENDED } from '../database/storage-fault.ts';
import type { Statement } from '../database/unit.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineObserver } from '../engine/engine-options.ts';
import { endpointFact } from '../engine/engine-surface.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import type { EventRetention } from '../events/retention.ts';
import { linkKeyIn } from '../files/file-links.ts';
import { MediaFolder } from '../files/file-store.ts';
import { MediaRetention } from '../files/media-retention.ts';
import type { EventGateway } from '../http/api/events-api.ts';
import { webhookNames } from '../ingress/webhook-addresses.ts';
import { alertMetrics } from '../metrics/alert-metrics.ts';
import { checkpointMetrics } from '../metrics/checkpoint-metrics.ts';
import { jobMetrics } from '../metrics/job-metrics.ts';
import { createMetrics, type EndpointFigures, type Metrics, PluginMetrics } from '../metrics/metrics.ts';
import { releaseMetrics } from '../metrics/release-metrics.ts';
import { readStoredFigures } from '../metrics/stored-figures.ts';
import { workroomMetrics } from '../metrics/workroom-metrics.ts';
import { expireGone } from '../outbox/expire-gone.ts';
import { createOutboxAdmin } from '../outbox/outbox-admin.ts';
import { DiskBudget } from '../readiness/disk-budget.ts';
import { Readiness } from '../readiness/readiness.ts';
import { NextCode } from '../runtime/loading/next-code.ts';
import { AlertsHost } from './alerts/alerts-host.ts';
import type { AppOptions } from './app-options.ts';
import { Housekeeping, type KeepFor } from './housekeeping.ts';
import { JobsHost } from './jobs.ts';
import { ReleasesHost } from './recovery/releases.ts';
import { RecoveryHost } from './recovery.ts';
import { WorkroomHost } from './workroom.ts';

/** State that changes while the host runs. */
export interface HostFacts {
  startedAt: number;
  previous: PreviousEnd;
  state: ProjectState | undefined;
  head: number;
  restarts: number;
  events: EventGateway | undefined;
  retention: EventRetention | undefined;
  draining: boolean;
  /** Open event streams. */
  streams: number;
}

export class Parts {
  readonly options: AppOptions;
  readonly loaded: LoadedConfig;
  readonly facts: HostFacts = {
    startedAt: systemClock.now(),
    previous: { end: 'first', code: null, signal: null, detail: null },
    state: undefined,
    head: 0,
    restarts: 0,
    events: undefined,
    retention: undefined,
    draining: false,
    streams: 0,
  };
  readonly core: Core & { projectId: ProjectId; fence?: Statement };
  readonly database: DatabaseHost;
  readonly media: MediaFolder;
  readonly engine: Engine;
  readonly jobs: JobsHost;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly pluginMetrics: PluginMetrics;
  readonly disk: DiskBudget;
  readonly housekeeping: Housekeeping;
  readonly nextCode: NextCode;
  readonly workroom: WorkroomHost;
  readonly recovery: RecoveryHost;
  readonly releases: ReleasesHost;
  readonly alerts: AlertsHost;
  readonly file: string;

  constructor(options: AppOptions, onDatabase: (state: DatabaseState) => void) {
    this.options = options;
    const { project, mode, environment, log, runtimeId } = options;
    this.loaded = options.loaded ?? loadConfig({ project, mode, environment });
    const relative = fromProject(project);
    const failpoints = FAILPOINTS ? environment['SVC_FAILPOINTS'] : undefined;
    this.file = resolve(project, this.loaded.config.database.filename);
    this.database = this.#makeDatabase(failpoints, onDatabase);
    this.core = {
      runtimeId,
      projectId: '' as ProjectId, // set once the database is open
      clock: systemClock,
      writer: this.database,
      reader: this.database.reader,
      log: log.logger,
      mask: (text) => relative(log.secrets.mask(text)),
      point: FAILPOINTS ? failpointsOf(failpoints) : noFailpoint,
    };
    this.nextCode = new NextCode({ project, mode, environment });
    this.media = new MediaFolder(this.core, projectPaths(project).mediaDir);
    this.workroom = new WorkroomHost({
      core: this.core,
      config: () => this.engine.runtime.loaded.config,
      timers: () => this.engine.timers,
      paths: projectPaths(project),
      endpoint: (name) => this.engine.runtime.current?.endpoint(name) ?? name,
    });
    this.engine = this.#makeEngine();
    this.jobs = new JobsHost({
      core: this.core,
      engine: this.engine,
      project,
      workroom: () => this.workroom.api,
      admit: () => this.admit(),
    });
    this.recovery = this.#makeRecovery();
    this.releases = new ReleasesHost({
      core: this.core,
      project,
      required: () => this.engine.runtime.loaded.config.http.readiness.endpoints,
    });
    this.readiness = this.#makeReadiness();
    this.disk = this.#makeDiskBudget();
    this.housekeeping = this.#makeHousekeeping();
    this.metrics = this.#makeMetrics();
    jobMetrics(this.metrics.registry, () => this.jobs.figures());
    workroomMetrics(this.metrics.registry, async () =>
      this.facts.state === undefined ? undefined : this.workroom.figures(),
    );
    checkpointMetrics(this.metrics.registry, () => this.recovery.figures());
    releaseMetrics(this.metrics.registry, () => this.releases.figures());
    alertMetrics(this.metrics.registry, () => this.alerts.firing());
    this.pluginMetrics = new PluginMetrics(this.metrics.registry);
    this.alerts = new AlertsHost({
      core: this.core,
      engine: () => this.engine,
      project,
      name: () => this.name,
      registry: () => this.metrics.registry,
      startedAt: () => this.facts.startedAt,
    });
  }

  /** The host's name without configured secrets, as public pages show it. */
  get name(): string {
    return withoutSecrets(this.engine.runtime.loaded.config.host.name, this.options.log.secrets.values);
  }

  /** Resolves at this process's turn (a spare waits for it). Nothing is touched before. */
  async begin(): Promise<void> {
    this.facts.previous = await this.options.previous;
    this.facts.startedAt = systemClock.now();
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    } catch {
      // the database does not open then, and readiness says why
    }
  }

  /** Throws while the host accepts no new work from clients that can retry. Reasons are a drain, a failed database and a full disk. */
  admit(): void {
    if (this.facts.draining)
      throw new SvcError('draining', 'the host is stopping', { details: { retryAfterMs: 2_000 } });
    this.admitRead();
  }

  /**
   * As `admit`, for messages that an account has read from its connection. Such messages are stored during a drain too, because not all
   * platforms repeat them.
   */
  admitRead(): void {
    const { state } = this.database;
    if (state.kind === 'failed')
      throw new SvcError('storage_unavailable', state.reason, { details: { retryAfterMs: 2_000 } });
    this.disk.refuseWhenLow();
  }

  /** Stores an event in a commit of its own, with `more` statements. A failure is ignored here, because the writer has logged it. */
  async tell(event: NewEvent, more: readonly Statement[] = []): Promise<void> {
    const unit = { name: event.type, statements: [...more, ...recordEvents([event])] };
    if (this.facts.state !== undefined) await this.core.writer.commit(unit).catch(() => {});
  }

  #makeDatabase(failpoints: string | undefined, onState: (state: DatabaseState) => void): DatabaseHost {
    const file = this.file;
    return new DatabaseHost({
      file,
      clock: systemClock,
      makeRunner: threadRunner({ file, failpoints }, this.options.writerThread),
      onDeath: (error) => this.options.requestExit(EXIT.restartRequired, error.message),
      onFencedOut: (reason) => this.options.requestExit(EXIT.ok, reason),
      onState,
      observer: {
        committed: (units, ms) => {
          this.metrics.commitSeconds.observe(ms / 1_000);
          this.metrics.commitUnits.inc(units);
        },
        failed: () => this.metrics.commitFailures.inc(),
        logMended: () => this.core.log.warn({ file: `${file}-wal` }, LOG_MENDED),
      },
    });
  }

  #makeEngine(): Engine {
    const { project, mode, environment } = this.options;
    const paths = projectPaths(project);
    return new Engine({
      core: this.core,
      project,
      mode,
      environment,
      loaded: this.loaded,
      lockfile: paths.lockfile,
      mediaFolder: paths.mediaDir,
      files: this.media,
      linkKey: () => linkKeyIn(paths.linkKey),
      admit: () => this.admitRead(),
      observer: this.#observer(),
      workroom: this.workroom.part,
    });
  }

  #observer(): EngineObserver {
    const { log } = this.options;
    return {
      accepted: (endpoint, kind) => this.metrics.accepted.inc({ endpoint, kind }),
      duplicate: (endpoint, conflict) => this.metrics.duplicates.inc({ endpoint, conflict: String(conflict) }),
      handled: ({ endpoint }, outcome) => {
        this.metrics.handled.inc({ endpoint, outcome });
        this.jobs.itemEnded();
      },
      sent: ({ endpoint }, outcome) => this.metrics.sends.inc({ endpoint, outcome }),
      pressRefused: (endpoint) => this.metrics.pressesRefused.inc({ endpoint }),
      reactionDropped: (endpoint) => this.metrics.reactionsDropped.inc({ endpoint }),
      pluginFailed: (slot) => this.metrics.pluginFailures.inc({ plugin: `root/${slot}` }),
      counted: (counter, labels) => this.pluginMetrics.count(counter, labels),
      endpointChanged: () => this.readiness.look(),
      secrets: (texts) => log.secrets.add(texts),
      served: (generation) => {
        this.pluginMetrics.serve(generation.candidate.counters, generation.candidate.gauges);
        log.setLevel(generation.loaded.config.log_level);
        this.disk.limitsChanged();
        this.readiness.look();
      },
    };
  }

  closeDatabase(): Promise<void> {
    return this.database.close();
  }

  #makeHousekeeping(): Housekeeping {
    const config = (): LoadedConfig['config'] => this.engine.runtime.loaded.config;
    const files = new MediaRetention(this.core, this.media, {
      days: () => config().files.days,
      copyDays: () => config().inbox.bodyDays,
    });
    const keep = (): KeepFor => {
      const { inbox, outbox, runs } = config();
      return { bodyDays: inbox.bodyDays, idDays: inbox.idDays, outboxDays: outbox.days, runDays: runs.days };
    };
    const outbox = createOutboxAdmin({ core: this.core, sender: this.engine.sender });
    return new Housekeeping(this.core, keep, async (now) => {
      await expireGone(this.core, outbox, { now, days: config().outbox.deadDays });
      await files.run(now);
    });
  }

  #makeRecovery(): RecoveryHost {
    const { project, mode, environment, log } = this.options;
    const { runtime } = this.engine;
    return new RecoveryHost({
      core: this.core,
      project,
      mode,
      environment,
      file: this.file,
      writer: this.database,
      loaded: () => runtime.loaded,
      changedFiles: () => runtime.changedFiles(),
      secrets: () => log.secrets.values,
      tell: (event) => this.tell(event),
    });
  }

  #makeReadiness(): Readiness {
    const { runtimeId, log } = this.options;
    const { runtime, gate } = this.engine;
    return new Readiness({
      clock: systemClock,
      facts: () => ({
        database: this.database.state,
        noRoom: this.disk.low,
        generation: runtime.current?.number ?? null,
        failure: runtime.lastFailure,
        requirements: runtime.loaded.config.http.readiness,
        endpoint: (id) => endpointFact(this.engine.endpoints.get(id)),
        journal: this.workroom.journal,
      }),
      identity: () => ({
        project: this.name,
        version: VERSION,
        runtimeId,
        configVersion: runtime.loaded.version,
        ingress: gate.state?.state ?? 'paused', // unknown yet; the field has two values, and `paused` promises less
      }),
      changed: ({ ready, state, checks }) => {
        const unmet = checks.filter((check) => !check.ready).map(({ component }) => component);
        log.logger.info({ ready, state, unmet }, 'readiness changed');
        void this.tell({ type: 'ready.changed', at: systemClock.now(), runtimeId, data: { ready, state, unmet } });
      },
    });
  }

  #makeDiskBudget(): DiskBudget {
    const { project, log } = this.options;
    const paths = projectPaths(project);
    return new DiskBudget({
      folders: [paths.stateDir, paths.dataDir],
      without: [paths.checkpointsDir, paths.replacedDir, paths.rehearsalDir, paths.releasesDir, paths.stagingDir],
      database: this.file,
      limits: () => this.engine.runtime.loaded.config.disk,
      clock: systemClock,
      changed: (low) => {
        if (low === undefined) log.logger.info({}, 'disk has room again');
        else log.logger.error({ reason: low }, 'disk budget is used up: ingress is refused');
        this.readiness.look();
      },
    });
  }

  #makeMetrics(): Metrics {
    const { engine, facts } = this;
    return createMetrics(
      { version: VERSION, runtimeId: this.options.runtimeId },
      {
        project: () => this.name,
        ready: () => this.readiness.ready,
        generation: () => engine.runtime.current?.number ?? 0,
        stored: () => readStoredFigures(this.core, this.file),
        streams: () => facts.streams,
        inboxPending: () => (facts.state === undefined ? undefined : engine.inbox.pending),
        inboxRunning: () => engine.dispatcher.running,
        outboxRunning: () => engine.sender.running,
        eventHead: () => (facts.state === undefined ? undefined : facts.head),
        eventOldest: () => facts.retention?.oldest(),
        endpoints: () => endpointFigures(engine),
        webhooks: () => webhookNames(engine.endpoints, engine.runtime.current),
        plugins: () => Object.keys(engine.runtime.loaded.config.plugins).map((slot) => `root/${slot}`),
        disk: () => this.disk.use(),
        diskLimits: () => engine.runtime.loaded.config.disk,
        ingressPaused: () => engine.gate.state && Number(engine.gate.state.state === 'paused'),
        logs: () => this.options.log.counts(),
      },
    );
  }
}

function endpointFigures({ endpoints, runtime }: Engine): readonly EndpointFigures[] {
  const { endpoints: asked } = runtime.loaded.config.http.readiness;
  const required = new Set<string>(asked.map(({ owner, name }) => endpointId(owner, name)));
  return endpoints.all().map(({ spec: { id }, state: { state } }) => ({
    id,
    online: state === 'online',
    enabled: state !== 'disabled',
    required: required.has(id),
  }));
}
