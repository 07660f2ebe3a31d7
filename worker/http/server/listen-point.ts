// Binds and opens the listening socket of a server.
//
//   LISTEN-1  A start listens first. So an address in use ends the start before the start has any effect. Of two hosts that start together,
//             one waits until the other listens.
//   LISTEN-2  A socket from the owner (supervisor, systemd) is used as it is. It is held: when this server closes it, connections wait for
//             the next worker.
//   LISTEN-3  Connections wait in the kernel's accept queue while nobody accepts. If the queue is full, the client's kernel retries after
//             1, 3, 7 … s. Node asks for 511, which 200 connections a second fill in three seconds. Linux allows up to net.core.somaxconn
//             (4,096 since 5.4).
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Address, type BoundHandle, bindSocket } from '../../../shared/process/bound-socket.ts';
import { bindFault, holderOf } from '../../../shared/process/port-owner.ts';
import { type EndTurn, takeTurn } from '../../../shared/process/port-turn.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** A bound socket from the owner, perhaps still on its way, or an address to bind. Port 0 takes a free one. */
export type ListenTarget = { readonly handle: object | Promise<object> } | Address;

/** Longer than a start, except for one that migrates its database. */
const PATIENCE_MS = 10_000;
const SAY_MS = 1_000;
const QUEUED_CONNECTIONS = 4_096;

export class ListenPoint {
  readonly #target: ListenTarget;
  readonly #say: (message: string) => void;
  #endTurn: EndTurn = () => {};
  #bound: BoundHandle | undefined;

  /** `say` reports that the start waits for another host. */
  constructor(target: ListenTarget, say: (message: string) => void) {
    this.#target = target;
    this.#say = say;
  }

  /** The owner holds the socket. */
  get isHeld(): boolean {
    return 'handle' in this.#target;
  }

  /** Binds an own address without listening. Throws `listen_failed`. */
  async bind(): Promise<void> {
    const target = this.#target;
    if ('handle' in target) return;
    const wait = `another host is about to listen on port ${target.port}: waiting for it, ${PATIENCE_MS / 1_000} s at most`;
    this.#endTurn = await takeTurn(target.port, {
      patienceMs: PATIENCE_MS,
      waits: { afterMs: SAY_MS, say: () => this.#say(wait) },
    });
    const bound = bindSocket(target);
    if (typeof bound !== 'string') this.#bound = bound;
    else {
      const fault = bound === 'ENOTSUP' && target.port !== 0 ? await bindFault(target.host, target.port) : bound;
      if (fault === undefined || fault === 'ENOTSUP') return;
      this.#endTurn();
      throw refused(target, fault);
    }
  }

  /** Throws `listen_failed`. */
  async listen(server: Server): Promise<Address> {
    const target = 'handle' in this.#target ? await this.#target.handle : (this.#bound ?? this.#target);
    this.#bound = undefined; // the server owns the handle from here on
    await this.#listen(server, target).finally(this.#endTurn);
    const address = server.address() as AddressInfo | null;
    return { host: address?.address ?? '', port: address?.port ?? 0 };
  }

  #listen(server: Server, target: object): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void =>
        reject(refused(this.#target, error.code ?? error.message, error));
      server.once('error', onError);
      server.listen(target, QUEUED_CONNECTIONS, () => {
        server.off('error', onError);
        resolve();
      });
    });
  }

  /** Releases a bound socket that never listened. */
  close(): void {
    this.#bound?.close();
    this.#bound = undefined;
    this.#endTurn();
  }
}

function refused(target: ListenTarget, code: string, cause?: Error): SvcError {
  const reason =
    code === 'EADDRINUSE' && 'port' in target
      ? `the address is in use: port ${target.port} is held by ${holderOf(target.port)}`
      : `the address cannot be bound (${code})`;
  return new SvcError('listen_failed', reason, {
    ...(cause === undefined ? {} : { cause }),
    hint: 'Change http.host or http.port, or end what holds it.',
  });
}
