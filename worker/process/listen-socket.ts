// Selects the socket of this worker: the supervisor's, an inherited one (systemd's LISTEN_FDS), or its own.
//
//   SOCKET-1  The supervisor's socket comes with `welcome` if the address is known already, so the start does not wait. Otherwise the
//             worker reports its address in `settings` and the socket comes in `listen`.
//   SOCKET-2  A supervisor without the capability `listen` has no socket. The worker then binds by itself.
import type { ListenAddress } from '../../shared/api/ipc.ts';
import type { AppOptions } from '../host/app-options.ts';
import type { InheritedSocket } from './inherited-socket.ts';
import type { BoundSocket, SupervisorLink } from './owner/supervisor-link.ts';

export type SocketHolder = 'supervisor' | 'inherited' | 'worker';

export class ListenSocket {
  readonly holder: SocketHolder;
  readonly #link: SupervisorLink | undefined;
  readonly #inherited: InheritedSocket | undefined;
  #take: ((socket: object) => void) | undefined;

  constructor(link: SupervisorLink | undefined, inherited: InheritedSocket | undefined) {
    this.#link = link;
    this.#inherited = inherited;
    if (link?.welcome.capabilities.includes('listen') === true) this.holder = 'supervisor';
    else this.holder = inherited === undefined ? 'worker' : 'inherited';
  }

  /** The socket for `AppOptions`. Call it once the configured address is known and reported to the supervisor. */
  handle({ host, port }: ListenAddress): Pick<AppOptions, 'listenHandle'> {
    if (this.holder === 'worker') return {};
    if (this.holder === 'inherited') return this.#inherited === undefined ? {} : { listenHandle: this.#inherited };
    const { welcome, socket } = this.#link ?? {};
    if (socket !== undefined && welcome?.listen?.host === host && welcome.listen.port === port)
      return { listenHandle: socket };
    socket?.close(); // bound to a former address: while it is open, connections would wait in its queue
    return {
      listenHandle: new Promise<object>((resolve) => {
        this.#take = resolve;
      }),
    };
  }

  /** The message `listen` has arrived. */
  handed(socket: BoundSocket | undefined): void {
    if (socket !== undefined) this.#take?.(socket);
  }
}
