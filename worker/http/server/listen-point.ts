// Where a server listens.
//
//   P1  An address of its own is bound before the host begins and listened on once it is up: a taken one ends the start before anything has
//       happened, and who comes too early is refused. Of two hosts that start in the same moment one waits until the other listens.
//   P2  A socket that an owner holds is taken as it is.
//   P3  What comes while nobody accepts waits in the kernel's queue; what finds that full is tried again by its kernel 1, 3, 7, ... s later. Node asks
//       for 511, which at 200 a second a drain of three seconds fills; Linux holds as many as net.core.somaxconn says (4,096 from 5.4 on).
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Address, type BoundHandle, bindSocket } from '../../../shared/process/bound-socket.ts';
import { bindFault, holderOf } from '../../../shared/process/port-owner.ts';
import { type EndTurn, takeTurn } from '../../../shared/process/port-turn.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** A bound socket that the owner holds, perhaps not handed over yet, or an address to bind; port 0 takes a free one. */
export type ListenTarget = { readonly handle: object | Promise<object> } | Address;

/** Longer than a start takes, unless its database is brought along. */
const PATIENCE_MS = 10_000;
const SAY_MS = 1_000;
const QUEUED_CONNECTIONS = 4_096;

export class ListenPoint {
  readonly #target: ListenTarget;
  readonly #say: (message: string) => void;
  #endTurn: EndTurn = () => {};
  #bound: BoundHandle | undefined;

  /** `say`: what a start waits for. */
  constructor(target: ListenTarget, say: (message: string) => void) {
    this.#target = target;
    this.#say = say;
  }

  /** P1. Throws `listen_failed`. */
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
    this.#bound = undefined; // the server's from here on
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

  /** Gives back what was bound and never listened on. */
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
