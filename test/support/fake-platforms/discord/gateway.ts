// The gateway of the fake Discord: opcodes, sessions that are replayed when they are resumed, close codes.
/* oxlint-disable eslint/no-restricted-properties -- a platform has limits of time of its own */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Json } from './world.ts';

export const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  acknowledged: 11,
} as const;

interface Session {
  readonly id: string;
  readonly log: { readonly op: 0; readonly t: string; readonly s: number; readonly d: Json }[];
  socket: WebSocket | undefined;
  readonly shard: Shard;
}
type Shard = readonly [index: number, count: number];

export interface GatewayDeps {
  readonly token: string;
  readonly url: () => string;
  /** What READY and what follows it tell. */
  ready(): { readonly ready: Json; readonly guilds: readonly Json[] };
}

const KNOWN_INTENTS = 0b11_0000_0011_0001_1111_1111_1111_1111;
const PRIVILEGED = (1 << 1) | (1 << 8) | (1 << 15);

export class DiscordGateway {
  /** Opcodes that came, with what was in them, but heartbeats. */
  readonly received: { readonly op: number; readonly d: Json }[] = [];
  heartbeats = 0;
  heartbeatMs = 41_250;
  /** No heartbeat is acknowledged: a connection that looks open and is dead. */
  isZombie = false;
  /** Privileged intents that are switched on. */
  privileged = PRIVILEGED;
  /** Sockets that are opened are closed at once with this code. */
  refuses: number | undefined;
  /** Those of this shard are closed with this code once they say so; others are taken. */
  refusesShard: { readonly shard: number; readonly code: number } | undefined;
  /** Sockets that are opened hear nothing. */
  isMute = false;
  sessionsLeft = 1_000;
  /** How many connections it advises, and how many sessions may begin at once, each again after `identifyMs`. */
  shards = 1;
  concurrency = 1;
  identifyMs = 0;
  /** Sessions that were asked for too early. */
  hasty = 0;
  /** Most servers of one connection. */
  mostGuilds = 2_500;
  /** What a new session is told as it begins, by its name. */
  readonly waiting: (readonly [t: string, d: Json])[] = [];
  readonly #deps: GatewayDeps;
  readonly #ws = new WebSocketServer({ noServer: true });
  #sessions: Session[] = [];
  /** When a session began last, by the bucket of its shard. */
  readonly #begun = new Map<number, number>();

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
  }

  get connections(): number {
    return this.#sessions.filter(({ socket }) => socket !== undefined).length;
  }
  get identifies(): number {
    return this.received.filter(({ op }) => op === OP.identify).length;
  }
  get resumes(): number {
    return this.received.filter(({ op }) => op === OP.resume).length;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#ws.handleUpgrade(request, socket, head, (opened) => this.#opened(opened));
  }

  /** To every session that it belongs to, also to one that is to be resumed. */
  dispatch(t: string, d: Json): void {
    for (const session of this.#sessions) if (isOf(session.shard, d['guild_id'])) this.#tell(session, t, d);
  }

  /** Asks to come again, as Discord does every few hours. */
  askToReconnect(): void {
    for (const { socket } of this.#sessions) socket?.send(JSON.stringify({ op: OP.reconnect, d: null }));
  }

  /** Writes what is no message of the gateway. */
  babble(text: string): void {
    for (const { socket } of this.#sessions) socket?.send(text);
  }

  /** Closes all sockets with this code, or that of one shard. */
  closeWith(code: number, shard?: number): void {
    if (shard === undefined) for (const client of this.#ws.clients) client.close(code);
    for (const { socket, shard: of } of this.#sessions) if (of[0] === shard) socket?.close(code);
  }

  /** Cuts all sockets without a word. */
  cut(): void {
    for (const client of this.#ws.clients) client.terminate();
  }

  /** Sessions that nobody can resume any more; what is said now is not told to anybody. */
  forgetSessions(): void {
    this.#sessions = [];
  }

  #opened(socket: WebSocket): void {
    if (this.refuses !== undefined) return socket.close(this.refuses);
    if (this.isMute) return;
    socket.send(JSON.stringify({ op: OP.hello, d: { heartbeat_interval: this.heartbeatMs } }));
    socket.on('message', (data) => {
      const { op, d } = JSON.parse(String(data)) as { readonly op: number; readonly d: Json };
      this.#on(socket, op, d);
    });
    socket.on('close', (code) => this.#closed(socket, code));
  }

  #on(socket: WebSocket, op: number, d: Json): void {
    if (op === OP.heartbeat) {
      this.heartbeats += 1;
      if (!this.isZombie) socket.send(JSON.stringify({ op: OP.acknowledged }));
      return;
    }
    this.received.push({ op, d });
    if (op === OP.identify) this.#identify(socket, d);
    else if (op === OP.resume) this.#resume(socket, d);
    else socket.close(4001);
  }

  #identify(socket: WebSocket, { token, intents, shard: given = [0, 1] }: Json): void {
    if (token !== this.#deps.token) return socket.close(4004, 'Authentication failed.');
    if (typeof intents !== 'number' || (intents & ~KNOWN_INTENTS) !== 0)
      return socket.close(4013, 'Invalid intent(s).');
    if ((intents & PRIVILEGED & ~this.privileged) !== 0) return socket.close(4014, 'Disallowed intent(s).');
    if (!isShard(given)) return socket.close(4010, 'Invalid shard.');
    if (this.refusesShard?.shard === given[0]) return socket.close(this.refusesShard.code);
    const { ready, guilds: all } = this.#deps.ready();
    const guilds = all.filter(({ id }) => isOf(given, id));
    if (guilds.length > this.mostGuilds) return socket.close(4011, 'Sharding required.');
    const bucket = given[0] % this.concurrency;
    const isHasty = performance.now() - (this.#begun.get(bucket) ?? Number.NEGATIVE_INFINITY) < this.identifyMs;
    if (isHasty) {
      this.hasty += 1;
      return socket.send(JSON.stringify({ op: OP.invalidSession, d: false }));
    }
    this.#begun.set(bucket, performance.now());
    this.sessionsLeft -= 1;
    const session: Session = { id: randomUUID().replaceAll('-', ''), log: [], socket, shard: given };
    this.#sessions.push(session);
    this.#tell(session, 'READY', {
      ...ready,
      guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
      shard: given,
      v: 10,
      session_id: session.id,
      resume_gateway_url: `${this.#deps.url()}/resume`,
    });
    for (const guild of guilds) this.#tell(session, 'GUILD_CREATE', guild);
    for (const [t, d] of this.waiting) this.#tell(session, t, d);
  }

  #resume(socket: WebSocket, { token, session_id: id, seq }: Json): void {
    if (token !== this.#deps.token) return socket.close(4004, 'Authentication failed.');
    const session = this.#sessions.find((one) => one.id === id);
    if (session !== undefined && this.refusesShard?.shard === session.shard[0])
      return socket.close(this.refusesShard.code);
    if (session === undefined) return socket.send(JSON.stringify({ op: OP.invalidSession, d: false }));
    if (typeof seq !== 'number' || seq > session.log.length) return socket.close(4007, 'Invalid seq.');
    session.socket = socket;
    for (const told of session.log.slice(seq)) socket.send(JSON.stringify(told));
    this.#tell(session, 'RESUMED', {});
  }

  #tell(session: Session, t: string, d: Json): void {
    const told = { op: 0, t, s: session.log.length + 1, d } as const;
    session.log.push(told);
    session.socket?.send(JSON.stringify(told));
  }

  /** Who closes with 1000 or 1001 has ended the session. */
  #closed(socket: WebSocket, code: number): void {
    if (code === 1000 || code === 1001) this.#sessions = this.#sessions.filter((one) => one.socket !== socket);
    for (const session of this.#sessions) if (session.socket === socket) session.socket = undefined;
  }

  stop(): void {
    for (const client of this.#ws.clients) client.terminate();
  }
}

const isShard = (given: unknown): given is Shard => {
  const [index, count, ...rest] = Array.isArray(given) ? (given as readonly unknown[]) : [];
  return rest.length === 0 && Number.isInteger(index) && Number.isInteger(count) && Number(index) < Number(count);
};

/** What belongs to no server comes to the first. */
const isOf = ([index, count]: Shard, guild: unknown): boolean =>
  (typeof guild === 'string' ? Number((BigInt(guild) >> 22n) % BigInt(count)) : 0) === index;
