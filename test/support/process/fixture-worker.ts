// The smallest worker that a supervisor takes for one, for fixture programs: hello, up, heartbeat, ready, stop.
import { createServer, type Server } from 'node:net';
import type { SupervisorMessage, WorkerMessage } from '../../../shared/api/ipc.ts';

export const tell = (message: WorkerMessage): void => void process.send?.(message);

/** Listens on the socket that comes with `welcome`, then comes up. */
export function listenOnHanded(listening: (server: Server) => void = () => {}): void {
  hello(['listen']);
  process.on('message', (message: SupervisorMessage, socket: object | undefined) => {
    if (message.type !== 'welcome') return;
    if (socket === undefined) throw new Error('no socket came with welcome');
    const server = createServer((client) => client.end('hello')).listen(socket, () => {
      listening(server);
      comeUp();
    });
  });
}

/** Calls `run` with the first message of that type. */
export function onMessage<T extends SupervisorMessage['type']>(
  type: T,
  run: (message: Extract<SupervisorMessage, { type: T }>) => void,
): void {
  process.on('message', (message: SupervisorMessage) => {
    if (message.type === type) run(message as Extract<SupervisorMessage, { type: T }>);
  });
}

export function hello(capabilities: readonly string[] = []): void {
  tell({ type: 'hello', protocol: 1, capabilities, runtimeId: `fixture-${process.pid}`, version: 'fixture' });
  process.on('disconnect', () => process.exit(1));
}

/** Up and ready, with a heartbeat from then on. */
export function comeUp(): void {
  tell({ type: 'up', host: null, port: null });
  tell({ type: 'ready', ready: true, generation: 1, reasons: [] });
  setInterval(() => tell({ type: 'heartbeat' }), 50);
}

/** Ends with the code that was asked for. */
export function obey(): void {
  onMessage('stop', ({ purpose }) => leave(purpose === 'restart' ? 51 : 0));
  process.on('SIGTERM', () => leave(0));
}

export function leave(code: number): void {
  tell({ type: 'stopping', code, reason: 'fixture' });
  setImmediate(() => process.exit(code));
}
