// How many connections there may be: in all (Node closes what comes above), and per address; through a trusted proxy
// requests are counted in the place of connections. Loopback is never limited by address: an operator always gets in.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { tookConnection } from '../../shared/connections-first.ts';
import { isLoopback } from '../../shared/ip-address.ts';
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
    return this.#take(address) ? () => this.#release(address) : undefined;
  }

  /** Ends every connection at once. */
  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    if (this.#sockets.has(socket)) return; // it went through the parser again: upgrade.ts
    const address = socket.remoteAddress ?? '';
    const isFree = isLoopback(address) || this.#parts.addresses.isProxy(address, this.#parts.settings().trustedProxies);
    if (!isFree && !this.#take(address)) {
      this.#parts.onRefused(address);
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (!isFree) this.#release(address);
    });
  }

  #take(address: string): boolean {
    const open = this.#open.get(address) ?? 0;
    if (open >= this.#parts.settings().limits.connectionsPerAddress) return false;
    this.#open.set(address, open + 1);
    return true;
  }

  #release(address: string): void {
    const open = (this.#open.get(address) ?? 1) - 1;
    if (open === 0) this.#open.delete(address);
    else this.#open.set(address, open);
  }
}
