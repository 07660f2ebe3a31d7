// Limits the connections of the server: in all, and per client address (for IPv6 per /64 network). Behind a trusted proxy, requests are
// counted per client instead of connections. Loopback has no limit per address, so an operator always gets in.
//
//   CONNECTION-1  The total is the configured limit, or fewer if file descriptors are short. Node closes connections above it.
//   CONNECTION-2  Near the total, a new connection replaces another, so probes and deliveries get in. The order is: the oldest that was
//                 silent for a second, the longest idle, one that waits for its client. The last choice is the oldest without a first
//                 request.
//   CONNECTION-3  At most a quarter of all connections may be without a first request. A real client sends its request at once.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientOf, isLoopback } from '../../../shared/ip-address.ts';
import { tookConnection } from '../../../shared/process/connections-first.ts';
import type { HttpSettings } from '../api/caller.ts';
import type { ClientAddresses } from '../request/client-address.ts';
import { connectionsOfDescriptors } from './descriptors.ts';
import type { OpenAnswers } from './open-answers.ts';

export interface ConnectionLimitParts {
  readonly addresses: ClientAddresses;
  readonly answers: OpenAnswers;
  settings(): HttpSettings;
  /** A connection was closed on arrival, or closed to make room for another. */
  onRefused(address: string): void;
}

const QUIET_SHARE = 4;
const SILENT_MS = 1_000;
/** A destroyed connection is counted until the next turn of the event loop. The spare covers connections that arrive before. */
const SPARE_SHARE = 16;
const MOST_SPARE = 64;
/** How many busy connections are searched for one that waits for its client. Bounds the cost of a new connection. */
const LOOKED_AT = 64;

export class ConnectionLimits {
  readonly #parts: ConnectionLimitParts;
  readonly #perAddress = new Map<string, number>();
  readonly #sockets = new Set<Duplex>();
  /** Each socket is in exactly one of the three, in order of arrival there. */
  readonly #quiet = new Map<Duplex, number>();
  readonly #idle = new Set<Duplex>();
  readonly #busy = new Set<Duplex>();

  constructor(server: Server, parts: ConnectionLimitParts) {
    this.#parts = parts;
    server.maxConnections = this.#most;
    server.on('connection', (socket) => {
      if (this.#sockets.has(socket)) return; // a held socket is handed to the parser a second time
      tookConnection();
      server.maxConnections = this.#most;
      this.#accept(socket);
    });
    server.on('drop', (data) => parts.onRefused(data?.remoteAddress ?? ''));
    parts.answers.tell({ busy: (socket) => this.busy(socket), idle: (socket) => this.#move(socket, this.#idle) });
  }

  /** Counts a request that came through a proxy and returns the function that ends it. Undefined if its client has too many. */
  enter(address: string, peer: string): (() => void) | undefined {
    if (address === peer || isLoopback(address)) return () => {};
    const client = clientOf(address);
    return this.#take(client) ? () => this.#release(client) : undefined;
  }

  /** Number of connections that have sent no byte yet. */
  get silent(): number {
    let count = 0;
    for (const socket of this.#quiet.keys()) if ((socket as Socket).bytesRead === 0) count += 1;
    return count;
  }

  /** Marks a connection as used: it is not closed to make room for others. */
  busy(socket: Duplex): void {
    this.#move(socket, this.#busy);
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The configured limit, or fewer if file descriptors are short. */
  get #most(): number {
    return Math.min(this.#parts.settings().limits.connections, connectionsOfDescriptors());
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const isFree = isLoopback(address) || this.#parts.addresses.isProxy(address, this.#parts.settings().trustedProxies);
    const client = clientOf(address);
    if (!isFree && !this.#take(client)) {
      this.#parts.onRefused(address);
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    this.#quiet.set(socket, performance.now());
    socket.once('close', () => {
      this.#forget(socket);
      if (!isFree) this.#release(client);
    });
    this.#makeRoom();
  }

  #makeRoom(): void {
    const leaving = this.#leaving();
    if (leaving === undefined) return;
    this.#parts.onRefused((leaving as Socket).remoteAddress ?? '');
    this.#forget(leaving);
    leaving.destroy();
  }

  /** The connection that has to make room, if the total or the share of connections without a request is reached. */
  #leaving(): Duplex | undefined {
    const most = this.#most;
    const [quiet, since = 0] = first(this.#quiet) ?? [];
    if (this.#quiet.size > most / QUIET_SHARE) return quiet;
    if (this.#sockets.size <= most - Math.min(MOST_SPARE, Math.floor(most / SPARE_SHARE))) return undefined;
    if (performance.now() - since > SILENT_MS && this.#quiet.size > 1) return quiet;
    return first(this.#idle) ?? this.#waiting() ?? (this.#quiet.size > 1 ? quiet : undefined);
  }

  /** The oldest busy connection whose client neither sends its request nor reads its answer. */
  #waiting(): Duplex | undefined {
    let looked = 0;
    for (const socket of this.#busy) {
      const answers = this.#parts.answers.on(socket);
      if (answers.length > 0 && answers.every(({ req, writableEnded }) => writableEnded || !req.complete))
        return socket;
      looked += 1;
      if (looked === LOOKED_AT) return undefined;
    }
    return undefined;
  }

  #move(socket: Duplex, to: Set<Duplex>): void {
    if (!this.#sockets.has(socket)) return;
    this.#quiet.delete(socket);
    this.#idle.delete(socket);
    this.#busy.delete(socket);
    to.add(socket);
  }

  #forget(socket: Duplex): void {
    for (const set of [this.#sockets, this.#quiet, this.#idle, this.#busy]) set.delete(socket);
  }

  #take(client: string): boolean {
    const open = this.#perAddress.get(client) ?? 0;
    if (open >= this.#parts.settings().limits.connectionsPerAddress) return false;
    this.#perAddress.set(client, open + 1);
    return true;
  }

  #release(client: string): void {
    const open = (this.#perAddress.get(client) ?? 1) - 1;
    if (open === 0) this.#perAddress.delete(client);
    else this.#perAddress.set(client, open);
  }
}

const first = <T>(of: Iterable<T>): T | undefined => of[Symbol.iterator]().next().value;
