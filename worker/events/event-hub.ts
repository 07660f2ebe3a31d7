// The hub of the event stream: follows the log by position and moves every client's cursor along it.
//
//   HUB-1  Clients are served from the log, never from memory that a restart would lose. A commit's head is only a wake-up.
//   HUB-2  Fan-out runs in slices, so thousands of clients do not block the event loop.
//   HUB-3  Nothing is read while no client is connected.

import type { GapReason } from '../../shared/api/event.ts';
import { messageOf } from '../../shared/svc-error.ts';
import type { Clock, Timer } from '../../shared/time/clock.ts';
import type { Reader } from '../database/unit.ts';
import type { HistoryBounds, Resume } from './cursor.ts';
import type { EventFilter } from './filter.ts';
import { LogWindow } from './log-window.ts';
import { Channel } from './stream/channel.ts';
import type { FrameSource, StreamScope, Wire } from './stream/frame.ts';
import { type ClientHost, type EndReason, StreamClient, type Transport } from './stream/stream-client.ts';

export interface EventLog {
  warn(fields: object, message: string): void;
}

/** Counters for the metrics. */
export interface EventMetrics {
  clients(count: number): void;
  gap(reason: GapReason): void;
  slowClosed(): void;
}

export interface EventDeps {
  readonly reader: Reader;
  /** Registers a listener, called after each commit that moved the head. Returns the function that removes it. */
  onHead(listener: (head: number) => void): () => void;
  /** Highest committed seq. */
  head(): number;
  /** Lowest stored seq; head + 1 if nothing is stored. */
  oldest(): number;
  readonly epoch: string;
  readonly projectId: string;
  readonly clock: Clock;
  readonly log: EventLog;
  readonly metrics: EventMetrics;
}

export interface StreamOptions {
  readonly heartbeatMs: number;
  /** Bounds of a stream's `retry:`, drawn at random between the two; `drainRetryMs` is the same for a drain. */
  readonly retryMs: readonly [number, number];
  readonly drainRetryMs: readonly [number, number];
  /** A client with more unsent bytes in its socket is not written to. */
  readonly highWaterBytes: number;
  readonly batchBytes: number;
  readonly stallMs: number;
  readonly bookmarkEvents: number;
  readonly sliceClients: number;
  readonly ringEvents: number;
  readonly ringBytes: number;
  readonly pageEvents: number;
  readonly pagesKept: number;
  readonly random: () => number;
}

export const STREAM_DEFAULTS: StreamOptions = {
  heartbeatMs: 15_000,
  retryMs: [2_000, 5_000],
  drainRetryMs: [250, 1_000],
  highWaterBytes: 128 * 1024,
  batchBytes: 64 * 1024,
  stallMs: 30_000,
  bookmarkEvents: 1_000,
  sliceClients: 256,
  ringEvents: 4_096,
  ringBytes: 8 * 1024 * 1024,
  pageEvents: 512,
  pagesKept: 16,
  random: Math.random,
};

export interface Subscription {
  readonly wire: Wire;
  readonly scope: StreamScope;
  readonly filter: EventFilter;
  readonly actor: string;
  readonly transport: Transport;
  readonly resume: Resume;
}

const READ_RETRY_MS = 500;

export class EventHub {
  readonly options: StreamOptions;
  readonly #deps: EventDeps;
  readonly #source: FrameSource;
  readonly #window: LogWindow;
  readonly #host: ClientHost;
  readonly #clients = new Set<StreamClient>();
  readonly #channels = new Map<string, Channel>();
  readonly #perActor = new Map<string, number>();
  readonly #stopListening: () => void;
  #following = false;
  #fanningOut: 'no' | 'yes' | 'again' = 'no';
  #heartbeat: Timer | undefined;
  #draining = false;

  constructor(deps: EventDeps, options: Partial<StreamOptions> = {}) {
    this.options = { ...STREAM_DEFAULTS, ...options };
    this.#deps = deps;
    this.#source = { projectId: deps.projectId, epoch: deps.epoch };
    this.#window = new LogWindow(deps.reader, this.options);
    this.#host = this.#clientHost();
    this.#stopListening = deps.onHead(() => this.#follow());
  }

  get draining(): boolean {
    return this.#draining;
  }

  bounds(): HistoryBounds {
    const head = this.#deps.head();
    return { epoch: this.#deps.epoch, head, oldest: Math.min(this.#deps.oldest(), head + 1) };
  }

  /** A client that asked for `gap: fail` was refused because of a gap. */
  gapRefused(reason: GapReason): void {
    this.#deps.metrics.gap(reason);
  }

  openStreams(actor: string): number {
    return this.#perActor.get(actor) ?? 0;
  }

  /** Adds a client. The client's first frames are written before the call returns. */
  subscribe(subscription: Subscription): StreamClient {
    if (this.#clients.size === 0) this.#wake();
    const channel = this.#channel(subscription);
    const client = new StreamClient(this.#host, { ...subscription, channel }, this.options);
    this.#clients.add(client);
    this.#perActor.set(client.actor, this.openStreams(client.actor) + 1);
    this.#deps.metrics.clients(this.#clients.size);
    client.open(subscription.resume, this.#between(this.options.retryMs));
    return client;
  }

  /** The client's connection has closed. */
  leave(client: StreamClient): void {
    client.gone();
    this.#forget(client);
  }

  end(client: StreamClient, reason: EndReason): void {
    if (reason === 'slow') this.#deps.metrics.slowClosed();
    client.close(reason);
    this.#forget(client);
  }

  closeRevoked(validActors: ReadonlySet<string>): void {
    for (const client of this.#clients) {
      if (!validActors.has(client.actor)) this.end(client, 'revoked');
    }
  }

  /** Sends every client a retry time, closes it, and accepts no more clients. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#stopListening();
    this.#heartbeat?.cancel();
    await this.#inSlices((client) => {
      client.close('drain', this.#between(this.options.drainRetryMs));
      this.#forget(client);
    });
  }

  #clientHost(): ClientHost {
    const { clock, metrics, log } = this.#deps;
    return {
      clock,
      window: this.#window,
      bounds: () => this.bounds(),
      gap: ({ reason }) => metrics.gap(reason),
      end: (client, reason) => this.end(client, reason),
      readFailed: (error) => log.warn({ error: messageOf(error) }, 'event history could not be read'),
    };
  }

  #wake(): void {
    this.#window.reset(this.#deps.head());
    this.#scheduleHeartbeat();
  }

  #scheduleHeartbeat(): void {
    this.#heartbeat?.cancel();
    this.#heartbeat = this.#deps.clock.after(this.options.heartbeatMs, () => {
      void this.#inSlices((client) => client.heartbeat()); // cannot fail: writing to a closed socket throws no error here
      if (this.#clients.size > 0 && !this.#draining) this.#scheduleHeartbeat();
    });
  }

  #follow(): void {
    if (this.#following || this.#clients.size === 0 || this.#draining) return;
    this.#following = true;
    // in the next turn, so the commits of one turn are read together
    setImmediate(() => void this.#followToHead());
  }

  async #followToHead(): Promise<void> {
    try {
      while (this.#window.end < this.#deps.head() && this.#clients.size > 0) {
        if (!(await this.#window.advance()) && !this.#skipTrimmed()) break;
        void this.#fanOut(); // runs while the next rows are read
      }
      this.#following = false;
    } catch (error) {
      this.#host.readFailed(error);
      this.#deps.clock.after(READ_RETRY_MS, () => void this.#followToHead());
    }
  }

  /** Everything up to the head was deleted before it was read. Skips to the head, so that clients get their gap now. */
  #skipTrimmed(): boolean {
    const { oldest, head } = this.bounds();
    if (oldest <= head) return false;
    this.#window.reset(head);
    return true;
  }

  async #fanOut(): Promise<void> {
    if (this.#fanningOut !== 'no') {
      this.#fanningOut = 'again';
      return;
    }
    do {
      this.#fanningOut = 'yes';
      await this.#inSlices((client) => client.pump());
    } while (this.#isAgain());
    this.#fanningOut = 'no';
  }

  #isAgain(): boolean {
    return this.#fanningOut === 'again';
  }

  async #inSlices(act: (client: StreamClient) => void): Promise<void> {
    let done = 0;
    for (const client of this.#clients) {
      act(client);
      done += 1;
      if (done % this.options.sliceClients === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #channel({ wire, scope, filter }: Subscription): Channel {
    const key = `${wire} ${scope} ${filter.canonical}`;
    const channel =
      this.#channels.get(key) ?? new Channel({ key, wire, scope, filter }, this.#source, this.options.batchBytes);
    this.#channels.set(key, channel);
    channel.clients += 1;
    return channel;
  }

  #forget(client: StreamClient): void {
    if (!this.#clients.delete(client)) return;
    client.channel.clients -= 1;
    if (client.channel.clients === 0) this.#channels.delete(client.channel.key);
    const left = this.openStreams(client.actor) - 1;
    if (left > 0) this.#perActor.set(client.actor, left);
    else this.#perActor.delete(client.actor);
    this.#deps.metrics.clients(this.#clients.size);
  }

  #between([least, most]: readonly [number, number]): number {
    return Math.round(least + (most - least) * this.options.random());
  }
}
