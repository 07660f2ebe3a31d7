// How many connections there may be: in all (Node closes what comes above), and per address, of IPv6 per network of 64 bits; through a
// trusted proxy requests are counted in the place of connections. Loopback is never limited by address: an operator always gets in.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { tookConnection } from '../../shared/connections-first.ts';
import { clientOf, isLoopback } from '../../shared/ip-address.ts';
import type { ClientAddresses } from './client-address.ts';
import type { HttpSettings } from './host-port.ts';

export interface ConnectionLimitParts {
  readonly addresses: ClientAddresses;
  settings(): HttpSettings;
  /** A connection was closed at once. */
  onRefused(address: string): void;
}

export class ConnectionLimits {
  readonly #parts: ConnectionLimitParts;
  readonly #open = new Map<string, number>();
  readonly #sockets = new Set<Socket>();

  constructor(server: Server, parts: ConnectionLimitParts) {
    this.#parts = parts;
    server.maxConnections = parts.settings().limits.connections;
    server.on('connection', (socket) => {
      tookConnection();
      server.maxConnections = parts.settings().limits.connections;
      this.#accept(socket);
    });
    server.on('drop', (data) => parts.onRefused(data?.remoteAddress ?? ''));
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
    for (const { bytesRead } of this.#sockets) if (bytesRead === 0) count += 1;
    return count;
  }

  /** Ends every connection at once. */
  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    if (this.#sockets.has(socket)) return; // it went through the parser again: upgrade.ts
    const address = socket.remoteAddress ?? '';
    const isFree = isLoopback(address) || this.#parts.addresses.isProxy(address, this.#parts.settings().trustedProxies);
    const client = clientOf(address);
    if (!isFree && !this.#take(client)) {
      this.#parts.onRefused(address);
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (!isFree) this.#release(client);
    });
  }

  #take(client: string): boolean {
    const open = this.#open.get(client) ?? 0;
    if (open >= this.#parts.settings().limits.connectionsPerAddress) return false;
    this.#open.set(client, open + 1);
    return true;
  }

  #release(client: string): void {
    const open = (this.#open.get(client) ?? 1) - 1;
    if (open === 0) this.#open.delete(client);
    else this.#open.set(client, open);
  }
}
