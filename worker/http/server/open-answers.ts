// The answers of each connection that are not over, in the order of their requests, and how many requests a connection may have unanswered.
//
//   O1  A connection has at most 16 unanswered requests. Once 512 are unanswered in all, it has one.
//   O2  A connection whose client does not read its answers begins no further request.
//   O3  With the connection, all of its answers are closed. Node tells the one alone that it writes, not those that wait behind it.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const MOST_OF_CONNECTION = 16;
const MOST_IN_ALL = 512;

export interface ConnectionUse {
  /** A first answer is under way. */
  busy(socket: Duplex): void;
  /** The last answer is over. */
  idle(socket: Duplex): void;
}

export class OpenAnswers {
  readonly #lines = new WeakMap<Duplex, Set<ServerResponse>>();
  #use: ConnectionUse | undefined;
  #count = 0;

  tell(use: ConnectionUse): void {
    this.#use = use;
  }

  /** A request of this connection is to be answered with this response. */
  begin(socket: Duplex, response: ServerResponse): void {
    const line = this.#lineOf(socket);
    if (line.size === 0) this.#use?.busy(socket);
    line.add(response);
    this.#count += 1;
    response.once('close', () => {
      this.#count -= 1;
      line.delete(response);
      if (line.size === 0) this.#use?.idle(socket);
    });
  }

  on(socket: Duplex): readonly ServerResponse[] {
    return [...(this.#lines.get(socket) ?? [])];
  }

  count(socket: Duplex): number {
    return this.#lines.get(socket)?.size ?? 0;
  }

  /** O1, O2: the next request of this connection has to wait for an answer. */
  isFull(socket: Socket): boolean {
    const line = this.#lines.get(socket);
    if (line === undefined || line.size === 0) return false;
    if (line.size >= MOST_OF_CONNECTION || this.#count >= MOST_IN_ALL || socket.writableNeedDrain) return true;
    let waitingBytes = 0;
    for (const response of line) if (response.socket === null) waitingBytes += response.writableLength;
    return waitingBytes >= socket.writableHighWaterMark;
  }

  #lineOf(socket: Duplex): Set<ServerResponse> {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line = new Set<ServerResponse>();
    this.#lines.set(socket, line);
    socket.once('close', () => closeQueued(line));
    return line;
  }
}

/** O3. */
function closeQueued(responses: ReadonlySet<ServerResponse>): void {
  for (const response of responses) {
    if (response.socket !== null) continue;
    response.destroy();
    response.emit('close');
  }
}
