// The worker's end of the IPC channel to its supervisor.
//
//   K1  hello first, then `welcome` (secrets, how the one before ended) is awaited; a supervisor that does not answer ends the start.
//   K2  The end of the channel is the end of the worker: a worker without its supervisor would be nobody's.
//   K3  A message that cannot be sent is dropped: the channel's end is noticed on its own.
import {
  asSupervisorMessage,
  IPC_PROTOCOL,
  type SupervisorMessage,
  WORKER_CAPABILITIES,
  type WorkerMessage,
} from '../../../shared/api/ipc.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { VERSION } from '../../../shared/version.ts';

export interface SupervisorLinkOptions {
  readonly runtimeId: string;
  /** The pid that started this process, as it said so itself. */
  readonly parent: number | undefined;
  /** The supervisor is gone. */
  readonly onLost: () => void;
  /** A spare: it waits until its turn comes, and is told before what it may make ready. Left out: `welcome` comes within 5 s. */
  readonly prepare?: (environment: Readonly<Record<string, string>>) => Promise<unknown>;
}

const WELCOME_MS = 5_000;

/** For `server.listen`; closed where nobody listens on it. */
export interface BoundSocket {
  close(): void;
}

export type SupervisorListener = (message: SupervisorMessage, socket: BoundSocket | undefined) => void;

export interface SupervisorLink {
  readonly welcome: Extract<SupervisorMessage, { type: 'welcome' }>;
  /** The bound socket that came with `welcome`. */
  readonly socket: BoundSocket | undefined;
  send(message: WorkerMessage): void;
  /** One listener; messages that came before it are given to it, each with the socket that came with it. */
  listen(listener: SupervisorListener): void;
}

/** Throws `not_running` when there is no channel or nobody answers on it. */
export async function linkToSupervisor({
  runtimeId,
  parent,
  onLost,
  prepare,
}: SupervisorLinkOptions): Promise<SupervisorLink> {
  if (process.send === undefined || (parent !== undefined && process.ppid !== parent))
    throw new SvcError('not_running', 'the supervisor of this worker is gone');
  const waiting: Parameters<SupervisorListener>[] = [];
  let listener: SupervisorListener | undefined;
  let onWelcome: ((welcomed: Pick<SupervisorLink, 'welcome' | 'socket'>) => void) | undefined;
  process.on('message', (value, handle: BoundSocket | undefined) => {
    const message = asSupervisorMessage(value);
    const socket = handle ?? undefined;
    if (message === undefined) return;
    if (message.type === 'welcome') onWelcome?.({ welcome: message, socket });
    else if (message.type === 'prepare')
      void prepare?.(message.environment).then(() => send({ type: 'prepared' })); // never fails
    else if (listener === undefined) waiting.push([message, socket]);
    else listener(message, socket);
  });
  process.once('disconnect', onLost);
  const welcomed = new Promise<Pick<SupervisorLink, 'welcome' | 'socket'>>((resolve, reject) => {
    const late = (): void => reject(new SvcError('timeout', `no answer from the supervisor within ${WELCOME_MS} ms`));
    const timer = prepare === undefined ? setTimeout(late, WELCOME_MS) : undefined;
    onWelcome = (received) => {
      clearTimeout(timer);
      resolve(received);
    };
  });
  send({ type: 'hello', protocol: IPC_PROTOCOL, capabilities: WORKER_CAPABILITIES, runtimeId, version: VERSION });
  const { welcome, socket } = await welcomed;
  return {
    welcome,
    socket,
    send,
    listen(next) {
      listener = next;
      for (const received of waiting.splice(0)) next(...received);
    },
  };
}

function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
