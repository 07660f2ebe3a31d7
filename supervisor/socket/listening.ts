// Manages the listening socket: held while a worker is expected, and passed to each worker that can take it.
//
//   LISTENING-1  A worker without the capability `listen` binds by itself. The supervisor closes its socket first.
//   LISTENING-2  A worker gets the socket for the address in its own configuration. Usually it comes with `welcome`, before that is read.
//   LISTENING-3  Of two supervisors that start at once, one reserves the port until its worker listens. The other finds the port in use.
//   LISTENING-4  A process that a dead worker left behind with the socket is found, and the error names it.
import type { SendHandle } from 'node:child_process';
import type { ListenAddress, WorkerMessage } from '../../shared/api/ipc.ts';
import type { Address } from '../../shared/process/bound-socket.ts';
import { type EndTurn, tryTurn } from '../../shared/process/port-turn.ts';
import type { ProcessIdentity } from '../../shared/process/process-identity.ts';
import { type ClaimOptions, claimAddress } from './claim-address.ts';
import { HeldSocket } from './held-socket.ts';
import { findSharer, linkOf } from './socket-sharers.ts';

type Say = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** The worker that receives the socket. */
export interface SocketTaker {
  readonly isAlive: boolean;
  send(message: { readonly type: 'listen' } & ListenAddress, socket: SendHandle): void;
}

export class Listening {
  readonly #say: Say;
  readonly #socket = new HeldSocket();
  #workersTakeIt = true;
  #turn: { readonly port: number; readonly end: EndTurn } | undefined;
  /** The address that the current worker received. */
  #handed: { readonly process: SocketTaker; readonly address: ListenAddress } | undefined;

  constructor(say: Say) {
    this.#say = say;
  }

  /** The socket and address that pass to a successor. */
  get held(): { readonly address: ListenAddress; readonly socket: SendHandle } | undefined {
    const { address } = this.#socket;
    const socket = address === undefined ? undefined : this.#socket.handleFor(address);
    return address === undefined || socket === undefined ? undefined : { address, socket };
  }

  adopt(address: ListenAddress, socket: SendHandle): void {
    this.#socket.adopt(address, socket);
  }

  get isPossible(): boolean {
    return this.#socket.isPossible;
  }

  get isHeld(): boolean {
    return this.#socket.address !== undefined;
  }

  /** Why connections are refused while no worker runs. */
  get notes(): readonly string[] {
    if (!this.isPossible)
      return ['this Node cannot hold the listening socket: the worker binds it, and none is there while it restarts'];
    return this.#workersTakeIt ? [] : ['the worker is of a version that binds the listening socket by itself'];
  }

  /** Binds the address before a worker starts. Returns why it is unavailable. */
  async claim({ host, port }: ListenAddress, tries?: number): Promise<string | undefined> {
    if (!this.#workersTakeIt) return undefined;
    const address = { host, port };
    return this.#claim(address, tries === undefined ? {} : { tries });
  }

  /** Answers the worker's `hello`: the socket and address to send with `welcome`. */
  greet(process: SocketTaker, { capabilities }: Extract<WorkerMessage, { type: 'hello' }>, address: ListenAddress) {
    this.#workersTakeIt = capabilities.includes('listen');
    if (!this.#workersTakeIt) this.release();
    const socket = this.#socket.handleFor(address);
    if (socket === undefined) return { listen: null, socket };
    this.#handed = { process, address };
    return { listen: address, socket };
  }

  /** Serves the address that a starting worker reported. Returns why it is unavailable. */
  async serve(process: SocketTaker, { host, port }: ListenAddress): Promise<string | undefined> {
    const handed = this.#handed?.process === process ? this.#handed.address : undefined;
    if (!this.#workersTakeIt || !this.isPossible || (handed?.host === host && handed.port === port)) return undefined;
    const address = { host, port };
    const isWanted = (): boolean => process.isAlive;
    const fault = await this.#claim(address, { isWanted });
    const socket = this.#socket.handleFor(address);
    if (fault === undefined && socket !== undefined) {
      this.#handed = { process, address };
      process.send({ type: 'listen', ...address }, socket);
    }
    return fault;
  }

  /** Describes a process of a former worker that also holds the socket. Undefined if there is none. */
  async sharer(former: ProcessIdentity, worker: number): Promise<string | undefined> {
    const link = this.#link;
    if (link === undefined) return undefined;
    const sharer = await findSharer({ link, since: former.start, owners: [process.pid, worker] });
    const port = this.#socket.address?.port;
    return sharer === undefined || link !== this.#link
      ? undefined
      : `port ${port} is held by ${sharer}, too, which an earlier worker left behind`;
  }

  get #link(): string | undefined {
    const { descriptor } = this.#socket;
    return descriptor === undefined ? undefined : linkOf(`/proc/self/fd/${descriptor}`);
  }

  /** The worker listens. From now on the bind itself rejects others, so the reservation ends. */
  listened(): void {
    this.#turn?.end();
    this.#turn = undefined;
  }

  release(): void {
    this.#socket.release();
    this.#handed = undefined;
    this.listened();
  }

  async #claim(address: Address, options: Pick<ClaimOptions, 'tries' | 'isWanted'>): Promise<string | undefined> {
    const takeTurn = (port: number): Promise<boolean> => this.#take(address, port);
    const fault = await claimAddress({ socket: this.#socket, address, takeTurn, say: this.#say, ...options });
    if (fault !== undefined) this.listened();
    return fault;
  }

  async #take(address: Address, port: number): Promise<boolean> {
    if (this.#turn?.port === port || this.#socket.handleFor(address) !== undefined) return true;
    const end = await tryTurn(port);
    if (end === undefined) return false;
    if (!this.isPossible) return (end(), true); // the worker binds and reserves the port itself
    this.listened();
    this.#turn = { port, end };
    return true;
  }
}
