// How many connections there may be: in all, and per address, of IPv6 per network of 64 bits; through a trusted proxy requests are counted in the
// place of connections. Loopback is never limited by address: an operator always gets in.
//
//   N1  In all there are as many as the configuration says and the descriptors of the process allow: database, log and outgoing connections
//       need theirs. Node closes what comes above.
//   N2  Near that number a new connection takes the place of one that asks for nothing: the oldest that was silent for a second, else the one that
//       is idle for the longest, else one that waits for its client to send or to read, else the oldest without a first request. So a probe and a
//       delivery always get in.
//   N3  Connections without a first request are a quarter of all at most: whoever connects to use the host asks at once.
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
  /** A connection was closed at once, or made room for another. */
  onRefused(address: string): void;
}

const QUIET_SHARE = 4;
const SILENT_MS = 1_000;
/** Closing takes a turn of the event loop, in which the next one may come. */
const SPARE_SHARE = 16;
const MOST_SPARE = 64;
/** Of busy connections so many are looked at for one that waits for its client. */
const LOOKED_AT = 64;

export class ConnectionLimits {
  readonly #parts: ConnectionLimitParts;
  readonly #perAddress = new Map<string, number>();
  readonly #sockets = new Set<Duplex>();
  /** Each is in one of the three, in the order in which it came there. */
  readonly #quiet = new Map<Duplex, number>();
  readonly #idle = new Set<Duplex>();
  readonly #busy = new Set<Duplex>();

  constructor(server: Server, parts: ConnectionLimitParts) {
    this.#parts = parts;
    server.maxConnections = this.#most;
    server.on('connection', (socket) => {
      if (this.#sockets.has(socket)) return; // it goes through the parser again: upgrade.ts, held-requests.ts
      tookConnection();
      server.maxConnections = this.#most;
      this.#accept(socket);
    });
    server.on('drop', (data) => parts.onRefused(data?.remoteAddress ?? ''));
    parts.answers.tell({ busy: (socket) => this.busy(socket), idle: (socket) => this.#move(socket, this.#idle) });
  }

  /** Counts a request that came through a proxy; undefined when its client has too many under way, else how to end it. */
  enter(address: string, peer: string): (() => void) | undefined {
    if (address === peer || isLoopback(address)) return () => {};
    const client = clientOf(address);
    return this.#take(client) ? () => this.#release(client) : undefined;
  }

  /** Connections over which nothing has come yet. */
  get silent(): number {
    let count = 0;
    for (const socket of this.#quiet.keys()) if ((socket as Socket).bytesRead === 0) count += 1;
    return count;
  }

  /** It is used from now on, and does not make room for others. */
  busy(socket: Duplex): void {
    this.#move(socket, this.#busy);
  }

  /** Ends every connection at once. */
  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** N1. */
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

  /** N2, N3. */
  #leaving(): Duplex | undefined {
    const most = this.#most;
    const [quiet, since = 0] = first(this.#quiet) ?? [];
    if (this.#quiet.size > most / QUIET_SHARE) return quiet;
    if (this.#sockets.size <= most - Math.min(MOST_SPARE, Math.floor(most / SPARE_SHARE))) return undefined;
    if (performance.now() - since > SILENT_MS && this.#quiet.size > 1) return quiet;
    return first(this.#idle) ?? this.#waiting() ?? (this.#quiet.size > 1 ? quiet : undefined);
  }

  /** The oldest of those that are busy only because their client does not send or read on. */
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
