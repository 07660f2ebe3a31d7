// One connection to the gateway, held by Discord's client @discordjs/ws: hello, heartbeats, identify, resume.
//
//   G1  The client comes back by itself once: when Discord asks for it, and when a connection is lost. What fails again is ended here, because
//       the client would try twice a second and without end; coming back with backoff is the host's.
//   G2  A session is given up when Discord says that it is over, and not because a connection was lost: the next process resumes it, too.
//   G3  What another connection cannot heal (token, intents, sharding) ends the account with its remedy.
//   G4  A connection that was ended makes no other one: its question for the session is never answered.
import type { SessionInfo, WebSocketShard } from '@discordjs/ws';
import type { Identifies } from './identify.ts';
import type { Position } from './position.ts';

/** A dispatch as it comes. */
export interface Dispatched {
  readonly t: string;
  readonly s: number;
  readonly d: unknown;
}

export interface ShardOptions {
  /** Of the gateway, for a new session. */
  readonly url: string;
  readonly token: string;
  readonly intents: number;
  readonly shard: ShardOf;
  readonly position: Position;
  readonly identifies: Identifies;
  /** From the beginning of an attempt, or its turn, to READY or RESUMED. */
  readonly readyMs: number;
  readonly identifyMs: number;
  dispatched(dispatch: Dispatched): void;
  up(): void;
}

/** Which connection of how many: each is told of its share of the servers, the first one of what belongs to none. */
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

/** Too many servers for so few connections. */
export const SHARDING_REQUIRED = 4011;
/** Of what another connection cannot heal, what is about this one alone. */
export const OF_ONE_SHARD: ReadonlySet<number> = new Set([4010, SHARDING_REQUIRED]);

/** Codes after which a session is over. */
const OVER: ReadonlySet<number> = new Set([1000, 1001, 4003, 4005, 4007, 4009]);
const RESUMABLE = 4200;
const CLOSE_MS = 2_000;

/** G3. */
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
  /** Resolves once; nothing is dispatched behind it. */
  readonly ended: Promise<ShardEnd>;
  readonly #options: ShardOptions;
  #end: (end: ShardEnd) => void = () => {};
  #shard: WebSocketShard | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Ends its turn to begin a session. */
  #answered = (): void => {};
  #isOver = false;
  /** Closed since READY or RESUMED. */
  #falls = 0;
  /** Told that the session is over since READY or RESUMED. */
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
    // It resolves when it is up; whether it is, and its end, are told by its events.
    void shard.connect().catch((error: unknown) => this.#lost(error));
  }

  /** Leaves the session to be resumed. Resolves when the socket is gone. */
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

  /** The first attempt goes where Discord wants a resume; the one behind it to the gateway, which takes it, too. */
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

  /** G2. */
  #update(session: SessionInfo | null): void {
    const { position } = this.#options;
    if (this.#isOver) return;
    if (session === null) {
      if (this.#closedBy === undefined || OVER.has(this.#closedBy)) position.drop();
      // The client closes this connection itself, for a new session on another one.
      if (this.#closedBy === undefined && !this.#isReplaced) this.#falls = 0;
      this.#isReplaced = true;
    } else if (session.sessionId !== position.session?.id)
      position.begin({ id: session.sessionId, url: session.resumeURL, seq: session.sequence }, Date.now());
    // How far it has come is not taken from here: the position holds what is stored.
  }

  /** The wait for it is none for Discord. */
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

  /** G1, G3. */
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

/** The client leaves a socket alone that is not open yet, and waits half a minute for one that answers no more. */
function terminate(shard: WebSocketShard): void {
  const { connection } = shard as unknown as { readonly connection?: Connection | null };
  // One that is not open yet ends with an error, which the client hears no more: it would end the process.
  connection?.addEventListener?.('error', () => {});
  connection?.terminate?.();
}

/** The client lets go of a promise that rejects over what is no message of the gateway: it would end the process. */
function guard(shard: WebSocketShard, lost: (error: unknown) => void): void {
  const reader = shard as unknown as { onMessage(data: unknown, isBinary: boolean): Promise<void> };
  const read = reader.onMessage.bind(shard);
  reader.onMessage = (data, isBinary) => read(data, isBinary).catch(lost);
}
