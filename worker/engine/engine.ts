// The path of a message: inbox → dispatcher → handlers of the serving generation → outbox → sender → accounts, with timers beside it.
// The engine knows no HTTP and no process: the host adds them, and `svc/testing` adds a manual clock and an in-memory platform.
import type { LoadedConfig } from '../../shared/config/load.ts';
import type { Core } from '../core/core.ts';
import type { TimeLeft } from '../core/drain-times.ts';
import { scopedLog } from '../core/scoped-log.ts';
import type { UnitAnswer } from '../database/unit.ts';
import type { EndpointState } from '../endpoints/endpoint-machine.ts';
import type { EndpointSpec } from '../endpoints/endpoint-runner.ts';
import { Endpoints, readCursor } from '../endpoints/endpoints.ts';
import { FileLinks } from '../files/file-links.ts';
import { FileSource } from '../files/file-source.ts';
import { type FileStore, MediaFolder } from '../files/file-store.ts';
import { commitDecided } from '../handling/commit-decided.ts';
import type { Decided } from '../handling/effects/effects.ts';
import { handleItem } from '../handling/handle-item.ts';
import type { HandlingDeps } from '../handling/item-ledger.ts';
import { OpenDialogs } from '../handling/plan/open-dialogs.ts';
import { OverlongLog } from '../handling/plan/overlong-log.ts';
import { isForNobody } from '../handling/plan/plan.ts';
import type { ContextDeps } from '../handling/run/context.ts';
import type { PluginFailed } from '../handling/run/failure.ts';
import { StateTurns } from '../handling/run/state-turns.ts';
import { UnderWay } from '../handling/run/under-way.ts';
import { UnspentAttempts } from '../handling/unspent-attempts.ts';
import { type ClaimedItem, createDispatcher, type ItemOutcome } from '../inbox/dispatcher.ts';
import { Inbox } from '../inbox/inbox.ts';
import { type ItemHead, itemWaits } from '../inbox/inbox-store.ts';
import type { Delivery } from '../inbox/prepare-item.ts';
import { IngressGate } from '../ingress/ingress-gate.ts';
import { receiveArrivals } from '../ingress/receive-arrivals.ts';
import { JustCommitted } from '../lanes/just-committed.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import { laneOf, type NewOutboxRow, type SendHead, sendWaits } from '../outbox/outbox-store.ts';
import { type SurfaceState, takesAtOnce } from '../outbox/send-surface.ts';
import { createSender } from '../outbox/sender.ts';
import { storingSends } from '../outbox/storing-sends.ts';
import { partNamesOf } from '../runtime/checks/missing-parts.ts';
import { commandInfos, commandsPart } from '../runtime/generations/commands-part.ts';
import { CronService } from '../runtime/generations/cron.ts';
import type { Generation } from '../runtime/generations/generation.ts';
import { Runtime } from '../runtime/runtime.ts';
import type { Arrival } from '../sdk/index.ts';
import { TimerService } from '../timers/timer-service.ts';
import { afterHandling } from './engine-after.ts';
import { tellEndpointChanged, tellPluginFailed } from './engine-events.ts';
import type { EngineOptions } from './engine-options.ts';
import { handlerShares, sendShares, takers } from './engine-shares.ts';
import { disabledOwners, isHeld, surfaceOf, typing, type Work } from './engine-surface.ts';
import { connectTimers } from './fire-due.ts';
import type { AtWork } from './left-at-work.ts';
import { OutsideChanges } from './outside-changes.ts';
import { Subscriptions } from './subscriptions.ts';

const STORAGE_RETRY_MS = 1_000;

export class Engine {
  readonly core: Core;
  readonly inbox: Inbox;
  readonly gate: IngressGate;
  readonly endpoints: Endpoints;
  readonly timers: TimerService;
  readonly dispatcher: LaneRunner<ItemHead>;
  readonly sender: LaneRunner<SendHead>;
  readonly runtime: Runtime;
  readonly cron: CronService;
  readonly subscriptions: Subscriptions;
  readonly context: Omit<ContextDeps, 'generation'>;
  readonly files: FileStore;
  readonly links: FileLinks | undefined;
  readonly outside = new OutsideChanges(this);
  readonly #options: EngineOptions;
  readonly #handling: HandlingDeps;
  readonly #dialogs = new OpenDialogs();
  readonly #overlong: OverlongLog;
  readonly #recentSends = new JustCommitted<NewOutboxRow>();
  readonly #quarantineMs = (): number => this.runtime.loaded.config.inbox.quarantineSeconds * 1_000;
  readonly #holds = (item: Work): boolean => isHeld(item, this.runtime.current?.loaded.config, this.gate.holds);

  constructor(options: EngineOptions) {
    const { core, observer } = options;
    this.#options = options;
    this.core = core;
    this.#overlong = new OverlongLog(core, (slot) => observer.pluginFailed?.(slot));
    const config = (): LoadedConfig['config'] => this.runtime.loaded.config;
    this.inbox = new Inbox(core, () => config().inbox, {
      unheardIn: (delivery) => this.#unheardIn(delivery),
      reserveLane: (item) => this.dispatcher.reserve(item),
      accepted: (row) => {
        observer.accepted?.(row.endpoint, row.kind);
        if (row.state === 'done') observer.handled?.(row, 'done');
      },
      duplicate: (endpoint, conflict) => observer.duplicate?.(endpoint, conflict),
      shares: () => takers(this.endpoints, this.runtime.current),
    });
    this.gate = new IngressGate(core, {
      changed: () => this.#ingressChanged(),
      due: (at) => this.timers.expect(at),
      running: () => this.dispatcher.running,
    });
    this.timers = new TimerService(core, {
      disabled: () => disabledOwners(this.runtime.current?.loaded.config),
      room: () => this.inbox.room,
      holds: () => this.gate.holds,
    });
    this.files = options.files ?? new MediaFolder(core, options.mediaFolder);
    const files = new FileSource({
      store: this.files,
      limit: () => config().files.maxFileBytes,
      room: options.admit,
      fetch: (endpoint, file) => this.endpoints.require(endpoint).fetchFile(file),
    });
    this.endpoints = new Endpoints({
      core,
      files,
      environment: options.environment,
      fileUrl: ({ adapter }, file) => this.links?.urlOf(file, { config: config(), adapter: adapter.name }),
      commands: () => commandInfos(this.runtime.current),
      logger: (endpoint) => scopedLog(core.log, { endpoint }),
      cursor: (endpoint) => readCursor(core, endpoint),
      receive: (spec, arrivals, cursor) => this.#receive(spec, arrivals, cursor),
      changed: (spec, before, after) => this.#endpointChanged(spec, before, after),
      ...(options.random === undefined ? {} : { random: options.random }),
    });
    this.dispatcher = createDispatcher({
      core,
      inbox: this.inbox,
      limits: () => handlerShares(config().inbox, this.endpoints, this.runtime.current),
      quarantineMs: this.#quarantineMs,
      held: this.#holds,
      handle: (item) => (options.around === undefined ? this.#handle(item) : options.around(() => this.#handle(item))),
      left: (item) => this.inbox.release(item),
    });
    this.sender = createSender({
      core,
      recent: this.#recentSends,
      limits: () => sendShares(this.endpoints),
      policy: () => config().outbox,
      quarantineMs: this.#quarantineMs,
      surface: (endpoint) => this.#surface(endpoint),
      due: (at) => this.timers.expect(at),
      ended: (row, verdict) => observer.sent?.(row, verdict),
    });
    this.cron = new CronService(core, {
      inbox: this.inbox,
      timers: this.timers,
      stored: () => this.dispatcher.wake(),
      timezone: () => config().schedule.timezone,
    });
    this.subscriptions = new Subscriptions(core, { inbox: this.inbox, stored: () => this.dispatcher.wake() });
    this.links = options.linkKey === undefined ? undefined : new FileLinks(core.clock, options.linkKey);
    this.context = {
      core,
      files,
      turns: new StateTurns(core.clock),
      underWay: new UnderWay(),
      logger: ({ id, slot }, of) => scopedLog(core.log, { plugin: `root/${slot}`, capability: id, ...of }),
      typing: (endpoint, conversation) => typing(this.endpoints.get(endpoint), conversation),
    };
    this.#handling = this.#handlingDeps(options, config);
    this.runtime = new Runtime(
      {
        core,
        project: options.project,
        mode: options.mode,
        environment: options.environment,
        lockfile: options.lockfile,
        logger: (slot) => scopedLog(core.log, { plugin: `root/${slot}` }),
        parts: (generation) => ({
          commands: commandsPart(generation),
          workroom: options.workroom,
          ...options.parts,
        }),
        partNames: (config) => [...partNamesOf(config), ...Object.keys(options.parts ?? {})],
        secrets: (texts) => observer.secrets?.(texts),
        fileUrl: (file, of) => this.links?.urlOf(file, of),
        serving: (generation) => this.#serve(generation),
        ...(options.modules === undefined ? {} : { modules: options.modules }),
        ...(options.lifeLimitMs === undefined ? {} : { lifeLimitMs: options.lifeLimitMs }),
      },
      options.loaded,
    );
    this.inbox.onItem(() => this.dispatcher.wake());
    connectTimers({
      core,
      inbox: this.inbox,
      timers: this.timers,
      items: { ...itemWaits, release: (lane, id) => this.dispatcher.release(lane, id) },
      sends: { ...sendWaits, release: (lane, id) => this.sender.release(lane, id) },
      reopenIngress: (row) => this.gate.reopen(row),
      stored: () => this.dispatcher.wake(),
    });
  }

  /** Reads the stored state after the database is open. Starts nothing. */
  async load(): Promise<void> {
    await Promise.all([this.outside.load(), this.inbox.load()]);
    await this.#dialogs.load(this.core.reader);
    await this.gate.load();
    await this.endpoints.load();
  }

  /** Assembles the first generation and starts the runners. If the generation fails, the runners wait for the next one. */
  async start(): Promise<void> {
    await this.runtime.start().catch(() => {}); // the runtime reports the failure: log, event, readiness
    this.dispatcher.start();
    this.sender.start();
    this.timers.start();
  }

  /**
   * Stops handlers first, then sends as much as possible, then ends the accounts. Interrupted work is reported before the accounts end, because an
   * account may be slow.
   */
  async stop(left: TimeLeft, tell: (what: AtWork, count: number) => void = () => {}): Promise<void> {
    this.outside.stop();
    await this.timers.stop();
    const cut = await this.dispatcher.stop(left('handlers'));
    tell('handlers', cut);
    await this.sender.finish(left('pendingSends'));
    tell('sends', await this.sender.stop(left('sends')));
    await this.endpoints.stop();
    await this.subscriptions.stop();
    await this.runtime.stop();
    this.#overlong.close();
    if (cut > 0) await this.inbox.letGo();
  }

  /** Resolves when nothing is ready to run. For tests that control the clock. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 2; quiet += 1) {
      await this.timers.settled();
      await this.dispatcher.settled();
      await this.sender.settled();
      if (this.dispatcher.running > 0 || this.sender.running > 0) quiet = -1;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Something may begin, or nothing may any more. */
  #ingressChanged(): void {
    this.dispatcher.wake();
    this.timers.wake();
  }

  readonly decide = (decided: Decided, commit: () => Promise<UnitAnswer>): Promise<UnitAnswer> =>
    commitDecided(this.#handling.after, decided, commit);

  async #serve(generation: Generation): Promise<void> {
    await this.endpoints.apply(generation.candidate.endpoints);
    await this.#serveSchedules(generation);
    this.#options.observer.served?.(generation);
    this.dispatcher.wake();
    this.sender.wake();
  }

  /** Stores positions and due times of the generation. Retried until the storage takes them. */
  async #serveSchedules(generation: Generation): Promise<void> {
    if (this.runtime.current !== generation) return;
    try {
      await this.cron.serve(generation);
      await this.subscriptions.serve(generation);
    } catch (error) {
      this.core.log.warn({ generation: generation.number, err: error }, 'schedules could not be stored: tried again');
      this.core.clock.after(STORAGE_RETRY_MS, () => void this.#serveSchedules(generation)); // handles its own errors
    }
  }

  #unheardIn(delivery: Delivery): number | undefined {
    const generation = this.runtime.current;
    if (generation === undefined || this.gate.holds) return undefined;
    return isForNobody({ dialogs: this.#dialogs, generation }, delivery) ? generation.number : undefined;
  }

  async #handle(item: ClaimedItem): Promise<ItemOutcome> {
    const generation = this.runtime.current;
    const leave = this.#holds(item.row) ? undefined : generation?.enter();
    if (generation === undefined || leave === undefined) return 'retired';
    try {
      return await handleItem(this.#handling, generation, item);
    } finally {
      leave();
    }
  }

  #handlingDeps({ core, observer }: EngineOptions, config: () => LoadedConfig['config']): HandlingDeps {
    return {
      core,
      context: this.context,
      dialogs: this.#dialogs,
      unspent: new UnspentAttempts(),
      maxAttempts: () => config().inbox.maxAttempts,
      quarantineMs: this.#quarantineMs,
      mayStart: (endpoint, conversation) =>
        takesAtOnce(this.#surface(endpoint)) && this.sender.isFree(laneOf(endpoint, conversation)),
      after: afterHandling({
        core,
        observer,
        storing: (rows) => storingSends({ recent: this.#recentSends, sender: this.sender }, rows),
        due: (at) => this.timers.expect(at),
        overlong: (listener) => this.#overlong.listener(listener),
        failed: (failed) => this.pluginFailed(failed),
      }),
    };
  }

  /** Counts, logs and records an exception of a plugin's handler or route. */
  pluginFailed(failed: PluginFailed): void {
    this.#options.observer.pluginFailed?.(failed.slot);
    tellPluginFailed(this.core, failed);
  }

  async #receive(spec: EndpointSpec, arrivals: readonly Arrival[], cursor: string | undefined): Promise<void> {
    this.#options.admit();
    this.gate.refuseWhenRejecting(); // the adapter keeps its arrivals and retries
    await receiveArrivals(this.inbox, spec, { arrivals, cursor });
  }

  #surface(endpoint: string): SurfaceState {
    return surfaceOf(endpoint, this.endpoints.get(endpoint), this.runtime.current?.loaded.config);
  }

  #endpointChanged(spec: EndpointSpec, before: EndpointState, after: EndpointState): void {
    this.#options.observer.endpointChanged?.(spec, after);
    if (after.state === 'online' || after.state === 'degraded') this.sender.wake();
    tellEndpointChanged(this.core, { spec, before, after, generation: this.runtime.current?.number });
  }
}
