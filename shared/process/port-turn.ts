// Who is on the way to listen on a port. Linux lets two sockets be bound to one address as long as neither listens, so that of two hosts that
// start in the same moment one would learn only at its `listen` that it has lost, long after it began. An abstract Unix socket, in the same
// network namespace as the port, lets one go after the other; the kernel takes it back when its holder dies. Elsewhere the bind is exclusive.
//
//   P1  By the port alone, since addresses overlap: whoever waits binds once the other listens, and is refused then if it is the same address.
//   P2  Any user can take such a name, as any user can take such a port: nobody waits for it for ever. Ports that only root takes have no turns,
//       or anybody could keep a host from them.
import { connect, createServer, type Socket } from 'node:net';
import { within } from '../time/abort.ts';

/** Gives the turn back; again does nothing. */
export type EndTurn = () => void;

const NO_TURN: EndTurn = () => {};
const FIRST_OF_ALL_USERS = 1_024;

/** The turn, or undefined while another process has it. */
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
  /** Called where it takes longer than that. */
  readonly waits?: { readonly afterMs: number; say(): void };
}

/** The turn once others have had theirs, or after `patienceMs`. */
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

/** Its holder lets go of those who wait when it gives the turn back, and so does its death. */
const endOfTurn = (port: number): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(nameOf(port));
    socket.on('error', () => {}).on('close', () => resolve());
    socket.resume();
  });
