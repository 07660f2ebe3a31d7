// The worker's end of the IPC channel to its supervisor.
//
//   SUPERVISORLINK-1  The worker sends `hello` and awaits `welcome` (secrets, end of the previous worker). A supervisor that does not
//                     answer ends the start.
//   SUPERVISORLINK-2  The worker ends when the channel closes, because no process would manage it.
//   SUPERVISORLINK-3  A message that cannot be sent is dropped. The closed channel is noticed separately.
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
  /** Pid of the starter, as the starter reported it. */
  readonly parent: number | undefined;
  /** The supervisor is gone. */
  readonly onLost: () => void;
  /** Given by a spare worker: it waits for its turn and prepares with this environment. Left out: `welcome` must come within 5 s. */
  readonly prepare?: (environment: Readonly<Record<string, string>>) => Promise<unknown>;
}

const WELCOME_MS = 5_000;

/** For `server.listen`. Close it if no server listens on it. */
export interface BoundSocket {
  close(): void;
}

export type SupervisorListener = (message: SupervisorMessage, socket: BoundSocket | undefined) => void;

export interface SupervisorLink {
  readonly welcome: Extract<SupervisorMessage, { type: 'welcome' }>;
  /** The bound socket sent with `welcome`. */
  readonly socket: BoundSocket | undefined;
  send(message: WorkerMessage): void;
  /** Sets the only listener. Messages received before are delivered to it, each with its socket. */
  listen(listener: SupervisorListener): void;
}

/** Throws `not_running` without a channel or with a changed parent, and `timeout` if no answer comes. */
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
