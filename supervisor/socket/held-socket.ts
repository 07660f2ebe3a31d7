// The listening socket, bound here and passed to each worker, which listens on it. Connections queue while no worker runs; none is refused.
// If Node cannot bind without listening, the worker binds instead, and status says so.
//
//   HELD-SOCKET-1  This process binds the socket but never listens. A listening parent would take half of the connections.
//   HELD-SOCKET-2  A new port replaces the old one only after the new one is bound.
//   HELD-SOCKET-3  Port 0 stays one port for as long as the socket is held.
import type { SendHandle } from 'node:child_process';
import { type Address, type BoundHandle, bindSocket, canBind } from '../../shared/process/bound-socket.ts';

export class HeldSocket {
  #held: { readonly address: Address; readonly handle: BoundHandle } | undefined;

  /** Whether this Node can bind without listening. */
  get isPossible(): boolean {
    return canBind();
  }

  /** The address as requested. Undefined if no socket is held. */
  get address(): Address | undefined {
    return this.#held?.address;
  }

  /** File descriptor in this process. */
  get descriptor(): number | undefined {
    return this.#held?.handle.fd;
  }

  /** The handle for `child.send`. Undefined if this address is not held. */
  handleFor(address: Address): SendHandle | undefined {
    return this.#isHeld(address) ? (this.#held?.handle as unknown as SendHandle) : undefined;
  }

  /** Binds the address unless it is held already. On failure it returns the error code and keeps the old socket. */
  hold(address: Address): string | undefined {
    if (this.#isHeld(address)) return undefined;
    if (this.#held?.address.port === address.port) this.release(); // two sockets of one port would collide
    const bound = bindSocket(address);
    if (typeof bound === 'string') return bound;
    this.release();
    this.#held = { address, handle: bound };
    return undefined;
  }

  /** Takes over the socket of another supervisor. */
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
