// One connection to the gateway through Discord's client @discordjs/ws: hello, heartbeats, identify, resume.
//
//   DISCORD-SHARD-1  The client reconnects once by itself: when Discord asks for it, or when the connection is lost. After another failure the shard
//                    ends, because the client would retry twice a second forever. The host reconnects with backoff.
//   DISCORD-SHARD-2  A session is dropped only when Discord says that it is over. A lost connection keeps it, so the next process can resume it.
//   DISCORD-SHARD-3  A fault that no new connection can fix (token, intents, sharding) ends the account and names the remedy.
//   DISCORD-SHARD-4  An ended connection opens no other one: the client's request for the session is never answered.
import type { SessionInfo, WebSocketShard } from '@discordjs/ws';
import type { Identifies } from './identify.ts';
import type { Position } from './position.ts';

/** A dispatch as received: type, sequence number, data. */
export interface Dispatched {
  readonly t: string;
  readonly s: number;
  readonly d: unknown;
}

export interface ShardOptions {
  /** Gateway address for a new session. */
  readonly url: string;
  readonly token: string;
  readonly intents: number;
  readonly shard: ShardOf;
  readonly position: Position;
  readonly identifies: Identifies;
  /** Time limit from the start of an attempt, or from its turn, to READY or RESUMED. */
  readonly readyMs: number;
  readonly identifyMs: number;
  dispatched(dispatch: Dispatched): void;
  up(): void;
}

/** Index of a connection and the number of all. Discord sends each connection its share of the servers, and private messages to the first. */
export interface ShardOf {
  readonly index: number;
  readonly count: number;
}

export const isOfShard = ({ index, count }: ShardOf, guild: string): boolean =>
  Number((BigInt(guild) >> 22n) % BigInt(count)) === index;

export type ShardEnd =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'failed'; readonly code: number; readonly reason: string; readonly remedy: string };

/** Close code: the bot is in too many servers for this number of connections. */
export const SHARDING_REQUIRED = 4011;
/** Fatal close codes that concern only this connection. */
export const OF_ONE_SHARD: ReadonlySet<number> = new Set([4010, SHARDING_REQUIRED]);

/** Close codes after which a session cannot be resumed. */
const OVER: ReadonlySet<number> = new Set([1000, 1001, 4003, 4005, 4007, 4009]);
const RESUMABLE = 4200;
const CLOSE_MS = 2_000;

/** Close codes that no new connection can fix, with the reason and the remedy. */
const FATAL: Readonly<Record<number, readonly [reason: string, remedy: string]>> = {
  4004: [
    'Discord refuses the token (4004)',
    'make a new token (Developer Portal, Bot, Reset Token), put it into .env and reload, or enable the account again',
  ],
  4010: ['Discord refuses the shard (4010)', 'update svc, then enable the account again'],
  4011: [
    'the bot is in too many servers for as many connections as Discord advises (4011)',
    'enable the account again: Discord is asked anew how many it wants',
  ],
  4012: ['Discord no longer speaks this version of the gateway (4012)', 'update svc, then enable the account again'],
  4013: ['Discord does not know one of the intents (4013)', 'correct intents: in svc.config.yml and reload'],
  4014: [
    'an intent is not switched on for this bot (4014)',
    'switch it on (Developer Portal, Bot, Privileged Gateway Intents: Message Content, Server Members, Presence) and enable the account again, or take it out of intents: and reload',
  ],
};

export class Shard {
  /** Resolves once. No dispatch follows. */
  readonly ended: Promise<ShardEnd>;
  readonly #options: ShardOptions;
  #end: (end: ShardEnd) => void = () => {};
  #shard: WebSocketShard | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Ends this connection's turn to begin a session. */
  #answered = (): void => {};
  #isOver = false;
  /** Number of closes since the last READY or RESUMED. */
  #falls = 0;
  /** Whether Discord invalidated the session since the last READY or RESUMED. */
  #isReplaced = false;
  #closedBy: number | undefined;
  #lastError = 'the connection was lost';

  constructor(options: ShardOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async open(): Promise<void> {
    const { Encoding, WebSocketShard, WebSocketShardEvents } = await import('@discordjs/ws');
    const { url, token, intents, position, identifies, shard: of } = this.#options;
    const shard = new WebSocketShard(
      {
        options: {
          token,
          // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- a sum of such bits
          intents,
          version: '10',
          encoding: Encoding.JSON,
          compression: null,
          useIdentifyCompression: false,
          largeThreshold: null,
          initialPresence: null,
          identifyProperties: { os: process.platform, browser: 'svc', device: 'svc' },
          handshakeTimeout: this.#options.readyMs,
          helloTimeout: null,
          readyTimeout: null,
          shardCount: of.count,
          gatewayInformation: {
            url,
            shards: of.count,
            session_start_limit: { total: 1_000, remaining: 1_000, reset_after: 0, max_concurrency: 1 },
          },
        },
        retrieveSessionInfo: () => (this.#isOver ? new Promise<never>(() => {}) : this.#session()),
        updateSessionInfo: (_, session) => this.#update(session),
        waitForIdentify: (_, closed) => this.#turn(closed),
      },
      of.index,
    );
    this.#shard = shard;
    guard(shard, (error) => this.#lost(error));
    shard.on(WebSocketShardEvents.Closed, (code) => this.#closed(code));
    shard.on(WebSocketShardEvents.Error, (error) => this.#note(error));
    shard.on(WebSocketShardEvents.SocketError, (error) => this.#note(error));
    shard.on(WebSocketShardEvents.Hello, () => {
      this.#closedBy = undefined;
    });
    shard.on(WebSocketShardEvents.Ready, () => this.#up());
    shard.on(WebSocketShardEvents.Resumed, () => this.#up());
    shard.on(WebSocketShardEvents.Dispatch, ({ t, s, d }) => {
      if (!this.#isOver) this.#options.dispatched({ t, s, d });
    });
    this.#watch();
    if (position.session === undefined) identifies.check();
    // Progress and end arrive as events, so the promise matters only if it rejects.
    void shard.connect().catch((error: unknown) => this.#lost(error));
  }

  /** Keeps the session for a resume. Resolves when the socket is closed. */
  async close(end: ShardEnd = { kind: 'stopped' }): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#answered();
    this.#end(end);
    const shard = this.#shard;
    if (shard === undefined) return;
    const late = setTimeout(() => terminate(shard), CLOSE_MS);
    await shard.destroy({ code: RESUMABLE, reason: 'svc' }).catch(() => {});
    clearTimeout(late);
    terminate(shard);
  }

  #lost(error: unknown): void {
    this.#note(error);
    void this.close({ kind: 'lost', reason: this.#lastError });
  }

  #note(error: unknown): void {
    if (error instanceof Error) this.#lastError = `the connection was lost: ${error.message}`;
  }

  /** The first attempt uses the resume address, the next one the gateway address. Discord accepts a resume on both. */
  #session(): SessionInfo | null {
    const { position, shard } = this.#options;
    const { session } = position;
    if (session === undefined) return null;
    return {
      sessionId: session.id,
      sequence: session.seq,
      resumeURL: this.#falls === 0 ? session.url : this.#options.url,
      shardCount: shard.count,
      shardId: shard.index,
    };
  }

  /** Drops the session only if Discord says that it is over. */
  #update(session: SessionInfo | null): void {
    const { position } = this.#options;
    if (this.#isOver) return;
    if (session === null) {
      if (this.#closedBy === undefined || OVER.has(this.#closedBy)) position.drop();
      // The client closes this connection itself to begin a new session.
      if (this.#closedBy === undefined && !this.#isReplaced) this.#falls = 0;
      this.#isReplaced = true;
    } else if (session.sessionId !== position.session?.id)
      position.begin({ id: session.sessionId, url: session.resumeURL, seq: session.sequence }, Date.now());
    // The sequence number is not copied from the client. The position holds the last stored dispatch.
  }

  /** Time spent waiting for a turn does not count as waiting for Discord. */
  async #turn(closed: AbortSignal): Promise<void> {
    const { identifies, identifyMs: everyMs, shard } = this.#options;
    clearTimeout(this.#timer);
    this.#answered();
    try {
      this.#answered = await identifies.turn(shard.index, { everyMs, signal: closed });
    } catch (error) {
      if (!closed.aborted) this.#lost(error);
      throw error;
    }
    if (this.#isOver) this.#answered();
    else this.#watch();
  }

  #up(): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.#answered();
    this.#falls = 0;
    this.#isReplaced = false;
    this.#options.up();
  }

  /** Lets the client reconnect once, else ends the connection. A code that no new connection can fix fails the account. */
  #closed(code: number): void {
    if (this.#isOver) return;
    this.#answered();
    this.#closedBy = code;
    this.#falls += 1;
    const fatal = FATAL[code];
    if (fatal !== undefined) {
      const [reason, remedy] = fatal;
      void this.close({ kind: 'failed', code, reason, remedy });
    } else if (this.#falls > 1) {
      const reason = code === 1006 ? this.#lastError : `the gateway closed the connection (${code})`;
      if (OVER.has(code)) this.#options.position.drop();
      void this.close({ kind: 'lost', reason });
    } else this.#watch();
  }

  #watch(): void {
    clearTimeout(this.#timer);
    const { readyMs } = this.#options;
    this.#timer = setTimeout(() => {
      void this.close({ kind: 'lost', reason: `the gateway was not ready within ${readyMs} ms` });
    }, readyMs);
  }
}

interface Connection {
  terminate?(): void;
  addEventListener?(name: 'error', listener: () => void): void;
}

/** Closes the socket at once. The client would leave a socket that is still opening, and wait 30 s for an unresponsive one. */
function terminate(shard: WebSocketShard): void {
  const { connection } = shard as unknown as { readonly connection?: Connection | null };
  // Terminating an opening socket emits an error. The client no longer listens, and an unhandled error would end the process.
  connection?.addEventListener?.('error', () => {});
  connection?.terminate?.();
}

/** Catches a rejection in the client that a malformed gateway message causes. Unhandled, it would end the process. */
function guard(shard: WebSocketShard, lost: (error: unknown) => void): void {
  const reader = shard as unknown as { onMessage(data: unknown, isBinary: boolean): Promise<void> };
  const read = reader.onMessage.bind(shard);
  reader.onMessage = (data, isBinary) => read(data, isBinary).catch(lost);
}
