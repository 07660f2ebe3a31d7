// The listening socket, bound here and handed to each worker, which listens on it: while no worker lives, connections wait in its queue
// and none is refused. Where this Node cannot bind without listening the worker binds by itself, and status says so.
//
//   H1  It is bound, never listened on here: a parent that listens takes half of the connections.
//   H2  Another port replaces it only once that one is bound.
//   H3  Port 0 is one port for as long as the socket is held.
import type { SendHandle } from 'node:child_process';
import { type Address, type BoundHandle, bindSocket, canBind } from '../../shared/process/bound-socket.ts';

export class HeldSocket {
  #held: { readonly address: Address; readonly handle: BoundHandle } | undefined;

  /** Whether this Node can bind without listening. */
  get isPossible(): boolean {
    return canBind();
  }

  /** As it was asked for; undefined when nothing is held. */
  get address(): Address | undefined {
    return this.#held?.address;
  }

  /** Its descriptor in this process. */
  get descriptor(): number | undefined {
    return this.#held?.handle.fd;
  }

  /** For `child.send`; undefined when another address, or none, is held. */
  handleFor(address: Address): SendHandle | undefined {
    return this.#isHeld(address) ? (this.#held?.handle as unknown as SendHandle) : undefined;
  }

  /** Binds the address unless it is held already; gives the code of the error when that is impossible, with what was held kept. */
  hold(address: Address): string | undefined {
    if (this.#isHeld(address)) return undefined;
    if (this.#held?.address.port === address.port) this.release(); // the two would be in each other's way
    const bound = bindSocket(address);
    if (typeof bound === 'string') return bound;
    this.release();
    this.#held = { address, handle: bound };
    return undefined;
  }

  /** Takes a socket over that another supervisor held. */
  adopt(address: Address, handle: SendHandle): void {
    this.#held = { address, handle: handle as unknown as BoundHandle };
  }

  release(): void {
    this.#held?.handle.close();
    this.#held = undefined;
  }

  #isHeld({ host, port }: Address): boolean {
    return this.#held?.address.host === host && this.#held.address.port === port;
  }
}
