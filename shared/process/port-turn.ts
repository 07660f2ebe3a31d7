// Reserves a port for a host that is about to listen. Linux allows two sockets on one address until one listens.
// Of two hosts that start at once, one would then fail only at its `listen`, long after it began.
// An abstract Unix socket, in the port's network namespace, makes them take turns. The kernel frees it when its holder dies.
// On other systems the bind itself is exclusive.
//
//   PORT-TURN-1  Turns are by port alone, since addresses overlap. A waiting host binds after the other listens, and fails if the address is the
//                same.
//   PORT-TURN-2  Any user can hold such a name, so no host waits for it forever. Ports below 1024 have no turns, so that no user can block root's
//                host.
import { connect, createServer, type Socket } from 'node:net';
import { within } from '../time/abort.ts';

/** Ends the turn. A second call does nothing. */
export type EndTurn = () => void;

const NO_TURN: EndTurn = () => {};
const FIRST_OF_ALL_USERS = 1_024;

/** Takes the turn. Undefined while another process has it. */
export function tryTurn(port: number): Promise<EndTurn | undefined> {
  if (process.platform !== 'linux' || port < FIRST_OF_ALL_USERS) return Promise.resolve(NO_TURN);
  return new Promise((resolve) => {
    const waiting = new Set<Socket>();
    const server = createServer((socket) => {
      waiting.add(socket);
      socket.on('error', () => {}).on('close', () => waiting.delete(socket));
      socket.unref();
    });
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EADDRINUSE' ? undefined : NO_TURN));
    server.listen(nameOf(port), () => {
      server.unref();
      resolve(() => {
        server.close();
        for (const socket of waiting) socket.destroy();
      });
    });
  });
}

export interface TurnOptions {
  readonly patienceMs: number;
  /** Called if the wait takes longer than `afterMs`. */
  readonly waits?: { readonly afterMs: number; say(): void };
}

/** Resolves once the turn is taken, or after `patienceMs` without it. */
export async function takeTurn(port: number, { patienceMs, waits }: TurnOptions): Promise<EndTurn> {
  let isLate = false;
  const saying = waits === undefined ? undefined : setTimeout(() => waits.say(), waits.afterMs);
  const taken = (async () => {
    for (;;) {
      const turn = await tryTurn(port);
      if (turn !== undefined && !isLate) return turn;
      turn?.();
      if (isLate) return NO_TURN;
      await endOfTurn(port);
    }
  })();
  const turn = await within(taken, { ms: patienceMs, late: undefined });
  clearTimeout(saying);
  isLate = turn === undefined;
  return turn ?? NO_TURN;
}

const nameOf = (port: number): string => `\0svc-listen-${port}`;

/** The holder closes the sockets of waiting hosts when its turn ends. Its death closes them, too. */
const endOfTurn = (port: number): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(nameOf(port));
    socket.on('error', () => {}).on('close', () => resolve());
    socket.resume();
  });
