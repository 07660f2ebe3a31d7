// The way of the listening socket to the workers: held while there is something to wait for, handed to each worker that can take it.
//
//   G1  A worker that names no capability `listen` binds by itself: the socket is closed before it may.
//   G2  A worker gets the socket of the address that its own configuration names; usually with `welcome`, before it has read that.
//   G3  Of two supervisors that start in the same moment one has its turn until a worker listens; the other finds the port taken.
//   G4  Nobody shares the socket whom a dead worker left behind: such a process is named.
import type { SendHandle } from 'node:child_process';
import type { ListenAddress, WorkerMessage } from '../../shared/api/ipc.ts';
import type { Address } from '../../shared/process/bound-socket.ts';
import { type EndTurn, tryTurn } from '../../shared/process/port-turn.ts';
import type { ProcessIdentity } from '../../shared/process/process-identity.ts';
import { type ClaimOptions, claimAddress } from './claim-address.ts';
import { HeldSocket } from './held-socket.ts';
import { findSharer, linkOf } from './socket-sharers.ts';

type Say = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** The worker that takes the socket. */
export interface SocketTaker {
  readonly isAlive: boolean;
  send(message: { readonly type: 'listen' } & ListenAddress, socket: SendHandle): void;
}

export class Listening {
  readonly #say: Say;
  readonly #socket = new HeldSocket();
  #workersTakeIt = true;
  #turn: { readonly port: number; readonly end: EndTurn } | undefined;
  /** What the present worker has been handed. */
  #handed: { readonly process: SocketTaker; readonly address: ListenAddress } | undefined;

  constructor(say: Say) {
    this.#say = say;
  }

  /** What a successor gets. */
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

  /** Why connections are refused while no worker lives. */
  get notes(): readonly string[] {
    if (!this.isPossible)
      return ['this Node cannot hold the listening socket: the worker binds it, and none is there while it restarts'];
    return this.#workersTakeIt ? [] : ['the worker is of a version that binds the listening socket by itself'];
  }

  /** Before a worker is started. Gives why the address cannot be had. */
  async claim({ host, port }: ListenAddress, tries?: number): Promise<string | undefined> {
    if (!this.#workersTakeIt) return undefined;
    const address = { host, port };
    return this.#claim(address, tries === undefined ? {} : { tries });
  }

  /** Answers `hello`: what goes with `welcome`. */
  greet(process: SocketTaker, { capabilities }: Extract<WorkerMessage, { type: 'hello' }>, address: ListenAddress) {
    this.#workersTakeIt = capabilities.includes('listen');
    if (!this.#workersTakeIt) this.release();
    const socket = this.#socket.handleFor(address);
    if (socket === undefined) return { listen: null, socket };
    this.#handed = { process, address };
    return { listen: address, socket };
  }

  /** A starting worker has told its address. Gives why that cannot be had. */
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

  /** Names the process of a former worker that has the socket, too (G4). */
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

  /** The worker listens: who else comes for the port is told by the bind. */
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
    if (!this.isPossible) return (end(), true); // the worker binds, and has a turn of its own
    this.listened();
    this.#turn = { port, end };
    return true;
  }
}
