// Whose socket this worker listens on: the supervisor's, one that came with the process (systemd's LISTEN_FDS), or its own.
//
//   L1  The supervisor's comes with `welcome` when it knows the address already, so that a start waits for nothing; else it is asked for by the settings and comes in `listen`.
//   L2  A supervisor that names no capability `listen` has none: the worker binds by itself.
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

  /** For `AppOptions`, once the configured address is known and has been told to the supervisor. */
  handle({ host, port }: ListenAddress): Pick<AppOptions, 'listenHandle'> {
    if (this.holder === 'worker') return {};
    if (this.holder === 'inherited') return this.#inherited === undefined ? {} : { listenHandle: this.#inherited };
    const { welcome, socket } = this.#link ?? {};
    if (socket !== undefined && welcome?.listen?.host === host && welcome.listen.port === port)
      return { listenHandle: socket };
    socket?.close(); // of a former address: as long as it is open here, connections wait there
    return {
      listenHandle: new Promise<object>((resolve) => {
        this.#take = resolve;
      }),
    };
  }

  /** `listen` has come. */
  handed(socket: BoundSocket | undefined): void {
    if (socket !== undefined) this.#take?.(socket);
  }
}
