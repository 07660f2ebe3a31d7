// Runs one account: holds its connection, passes its deliveries to the inbox and makes its sends. Carries out the effects of the endpoint state
// machine.
import type { TProperties } from 'typebox';
import { withProxyNote } from '../../shared/process/proxy-variables.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { sharedAbort, within } from '../../shared/time/abort.ts';
import type { Timer } from '../../shared/time/clock.ts';
import { waitText } from '../../shared/time/wait-text.ts';
import { type Core, reasonOf } from '../core/core.ts';
import type { FileSource } from '../files/file-source.ts';
import { errorCode } from '../sdk/errors.ts';
import type {
  AdapterDefinition,
  Arrival,
  CommandInfo,
  FileRef,
  Link,
  Logger,
  Outgoing,
  PlatformSocket,
  SendResult,
} from '../sdk/index.ts';
import { AcceptedSockets } from './accepted-sockets.ts';
import { makeLink } from './account-link.ts';
import { Announcement } from './announcement.ts';
import {
  type EndpointEffect,
  type EndpointEvent,
  type EndpointState,
  initialEndpoint,
  stepEndpoint,
  takesDeliveries,
  takesSends,
} from './endpoint-machine.ts';
import { SentFiles } from './sent-files.ts';

/** An account as the configuration describes it. */
export interface EndpointSpec {
  /** `<owner>:<name>`. */
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly slot: string;
  /** The part of a webhook path after the slot; undefined for a slot without accounts. */
  readonly account: string | undefined;
  readonly adapter: AdapterDefinition<TProperties>;
  readonly values: Readonly<Record<string, unknown>>;
  readonly enabled: boolean;
  /** Equal for equal settings. An account with the same fingerprint and adapter keeps its connection over a reload. */
  readonly fingerprint: string;
}

export interface EndpointRunnerDeps {
  readonly core: Core;
  readonly logger: (endpoint: string) => Logger;
  readonly receive: (spec: EndpointSpec, arrivals: readonly Arrival[], cursor: string | undefined) => Promise<void>;
  readonly cursor: (endpoint: string) => Promise<string | undefined>;
  readonly changed: (spec: EndpointSpec, before: EndpointState, after: EndpointState) => void;
  /** Bytes of a file that this account sends or has received. */
  readonly files: Pick<FileSource, 'read' | 'open' | 'mostBytes'>;
  /** A signed link to a stored file; undefined if the host has no public address. */
  readonly fileUrl: (spec: EndpointSpec, file: FileRef) => string | undefined;
  /** Commands of the serving generation, for platforms with command menus. */
  readonly commands: () => readonly CommandInfo[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly random?: () => number;
}

/** Reasons for which a standing connection is degraded. */
interface Health {
  isBehind: boolean;
  trouble: string | undefined;
}

const END_LIMIT_MS = 5_000;
/** Retry delay for fetching missed messages while the connection stands. */
const CATCH_UP_RETRY_MS = 30_000;

export class EndpointRunner {
  readonly spec: EndpointSpec;
  readonly #deps: EndpointRunnerDeps;
  #state: EndpointState;
  #connection: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;
  #link: Link<never> | undefined;
  #timer: Timer | undefined;
  #downSince: number | undefined;
  /** End of a long wait that the platform has asked for, on the monotonic clock. */
  #slowed: { readonly until: number; readonly reason: string } | undefined;
  /** Goes online again if the standing connection has no other trouble. */
  #recheck: (() => void) | undefined;
  readonly #announcement: Announcement;
  readonly #sockets = new AcceptedSockets();
  readonly #files: SentFiles;
  /** End of the previous connection. Platforms allow one at a time, so the next connection waits for it. */
  #former: Promise<void>;

  constructor(spec: EndpointSpec, deps: EndpointRunnerDeps, former: Promise<void> = Promise.resolve()) {
    this.spec = spec;
    this.#deps = deps;
    this.#former = former;
    this.#announcement = new Announcement(deps.core);
    this.#files = new SentFiles(deps.files, spec.id);
    this.#state = initialEndpoint(deps.core.clock.now());
  }

  get state(): EndpointState {
    return this.#state;
  }
  /** When it last stopped to take sends, over all tries since. Undefined while it takes them, or is disabled. */
  get downSince(): number | undefined {
    return this.#downSince;
  }
  get takesDeliveries(): boolean {
    return takesDeliveries(this.#state);
  }
  get takesSends(): boolean {
    return takesSends(this.#state);
  }

  enable(): void {
    this.#step({ kind: 'enabled' });
  }
  disable(): void {
    this.#step({ kind: 'disabled' });
  }
  reconnect(): void {
    this.#step({ kind: 'reconnect' });
  }
  accountFailed(reason: string, remedy: string): void {
    this.#step({ kind: 'account_failed', reason, remedy });
  }

  /** Sends wait because the platform has asked for `toldMs`. The account is degraded until they go out again. */
  slowed(waitMs: number, toldMs: number): void {
    const { clock } = this.#deps.core;
    const until = clock.monotonic() + waitMs;
    if (until <= (this.#slowed?.until ?? 0)) return;
    const again = new Date(clock.now() + waitMs).toISOString();
    this.#slowed = { until, reason: `the platform asks to wait ${waitText(toldMs)}: sends go on at ${again}` };
    this.#tellSlowed();
    clock.after(waitMs, () => {
      if (this.#slowed?.until !== until) return;
      this.#slowed = undefined;
      this.#recheck?.();
    });
  }

  #tellSlowed(): void {
    if (this.#slowed !== undefined)
      this.#step({ kind: 'troubled', code: 'platform_waits', reason: this.#slowed.reason });
  }

  /**
   * Takes a verified WebSocket that the platform opened. After at most one failure the account connects at once; after more, its backoff continues.
   */
  accept(socket: PlatformSocket): void {
    if (this.#state.failures <= 1) this.#step({ kind: 'retry_due' });
    this.#sockets.hand(socket);
  }

  send(call: Outgoing): Promise<SendResult> {
    const link = this.#link;
    if (link === undefined)
      return Promise.reject(new SvcError('endpoint_unavailable', `${this.spec.id} is not connected`));
    const files = call.kind === 'post' || call.kind === 'edit' ? call.files : [];
    return this.#files.during(files, async () => this.spec.adapter.send(call, link));
  }

  /** Tells the platform where to deliver. Resolves to a description of what was done. Throws `endpoint_unavailable`. */
  async registerWebhook(url: string): Promise<string> {
    const link = this.#link;
    const { adapter, id } = this.spec;
    if (link === undefined) throw new SvcError('endpoint_unavailable', `${id} is not connected`);
    if (adapter.webhook?.register === undefined)
      throw new SvcError('conflict', `${adapter.name} registers no webhooks`);
    return adapter.webhook.register(url, link);
  }

  /** Bytes of a file on the platform, by the platform's id. */
  async fetchFile(file: FileRef): Promise<ReadableStream<Uint8Array>> {
    const link = this.#link;
    const { adapter, id } = this.spec;
    if (adapter.fetchFile === undefined) throw new Error(`${adapter.name} gives no files`);
    if (link === undefined) throw new SvcError('endpoint_unavailable', `${id} is not connected`);
    return adapter.fetchFile(file, link);
  }

  /** Announces the commands if the platform takes them and they have changed. Never rejects. */
  async announce(): Promise<void> {
    const link = this.#link;
    const { adapter, id } = this.spec;
    if (adapter.announce === undefined || link === undefined) return;
    await this.#announcement.tell({
      endpoint: id,
      commands: this.#deps.commands,
      announce: async (commands) => adapter.announce?.(commands, link),
      signal: link.signal,
      refused: (error) => this.#step(this.#failed(error)),
    });
  }

  /** Ends the connection and waits for its end. A connection that does not end in time is logged and left behind. */
  async stop(): Promise<void> {
    this.#step({ kind: 'disabled' });
    await this.#former;
  }

  async #endOf({ ended }: { readonly ended: Promise<void> }): Promise<void> {
    const { core } = this.#deps;
    const end = await within(
      ended.then(() => 'ended' as const),
      { ms: END_LIMIT_MS, late: 'late' as const, clock: core.clock },
    );
    if (end === 'late')
      core.log.warn({ endpoint: this.spec.id }, `connection did not end within ${END_LIMIT_MS} ms: left behind`);
  }

  #step(event: EndpointEvent): void {
    const { core, random = Math.random } = this.#deps;
    const before = this.#state;
    const at = { now: core.clock.now(), monotonic: core.clock.monotonic(), random };
    const { state, effects } = stepEndpoint(before, event, at);
    this.#state = state;
    this.#downSince = takesSends(state) || state.state === 'disabled' ? undefined : (this.#downSince ?? at.now);
    if (!takesDeliveries(state)) this.#sockets.clear();
    if (state.state !== before.state) this.#deps.changed(this.spec, before, state);
    for (const effect of effects) this.#execute(effect);
  }

  #execute(effect: EndpointEffect): void {
    switch (effect.kind) {
      case 'close':
        this.#timer?.cancel();
        this.#connection?.abort.abort();
        if (this.#connection !== undefined) this.#former = this.#endOf(this.#connection);
        this.#connection = undefined;
        this.#link = undefined;
        return;
      case 'retry_after':
        this.#timer = this.#deps.core.clock.after(effect.delayMs, () => this.#step({ kind: 'retry_due' }));
        return;
      case 'connect': {
        const abort = sharedAbort();
        this.#connection = { abort, ended: this.#connect(abort.signal, this.#former) };
        return;
      }
    }
  }

  /** Runs one connection to its end. Never rejects. */
  async #connect(signal: AbortSignal, former: Promise<void>): Promise<void> {
    const { adapter } = this.spec;
    const mine = (event: EndpointEvent): void => {
      if (!signal.aborted) this.#step(event);
    };
    let isOnline = false;
    const health: Health = { isBehind: false, trouble: undefined };
    const online = (link: Link<never>): void => {
      if (isOnline) return this.#well(health, { trouble: undefined }, mine);
      isOnline = true;
      mine({ kind: 'connected' });
      this.#recheck = () => this.#well(health, {}, mine);
      this.#tellSlowed();
      void this.#catchUp(link, health, mine); // reports its own failure
      void this.announce();
    };
    const degraded = (reason: string): void => {
      health.trouble = reason;
      mine({ kind: 'troubled', code: 'account_degraded', reason });
    };
    try {
      await former;
      if (signal.aborted) return;
      const parts = { signal, sockets: this.#sockets, files: this.#files, online: () => online(link), degraded };
      const link = await makeLink(this.spec, this.#deps, parts);
      if (signal.aborted) return;
      this.#link = link;
      if (adapter.connect === undefined) return link.online();
      await adapter.connect(link);
      mine({ kind: 'lost', reason: 'the connection ended' });
    } catch (error) {
      if (errorCode(error) === 'account_failed') mine(this.#failed(error));
      else mine({ kind: 'lost', reason: this.#lostReason(error) });
    }
  }

  #lostReason(error: unknown): string {
    return withProxyNote(reasonOf(this.#deps.core, error), this.#deps.environment);
  }

  #failed(error: unknown): EndpointEvent {
    const remedy = String((error as { remedy?: unknown }).remedy ?? '');
    return { kind: 'account_failed', reason: reasonOf(this.#deps.core, error), remedy };
  }

  /** Goes online again once no reason for `degraded` remains. */
  #well(health: Health, change: Partial<Health>, mine: (event: EndpointEvent) => void): void {
    Object.assign(health, change);
    if (health.isBehind || health.trouble !== undefined || this.#slowed !== undefined) return;
    mine({ kind: 'well' });
  }

  async #catchUp(link: Link<never>, health: Health, mine: (event: EndpointEvent) => void): Promise<void> {
    try {
      await this.spec.adapter.catchUp?.(link);
      this.#well(health, { isBehind: false }, mine);
    } catch (error) {
      if (errorCode(error) === 'account_failed') mine(this.#failed(error));
      else {
        health.isBehind = true;
        mine({ kind: 'troubled', code: 'catch_up_failed', reason: reasonOf(this.#deps.core, error) });
        const { clock } = this.#deps.core;
        clock.after(CATCH_UP_RETRY_MS, () => link.signal.aborted || void this.#catchUp(link, health, mine));
      }
    }
  }
}
