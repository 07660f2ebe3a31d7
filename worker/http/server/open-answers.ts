// Unfinished answers per connection, in request order, and the limit on unanswered requests of a connection.
//
//   ANSWER-1  A connection has at most 16 unanswered requests. If 512 are unanswered in all, it has at most one.
//   ANSWER-2  A connection whose client does not read its answers begins no further request.
//   ANSWER-3  When a connection closes, all its answers close. Node closes only the one that is being written.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const MOST_OF_CONNECTION = 16;
const MOST_IN_ALL = 512;

export interface ConnectionUse {
  /** The first answer of a connection has begun. */
  busy(socket: Duplex): void;
  /** The last answer of a connection is over. */
  idle(socket: Duplex): void;
}

export class OpenAnswers {
  readonly #lines = new WeakMap<Duplex, Set<ServerResponse>>();
  #use: ConnectionUse | undefined;
  readonly #open = new Set<ServerResponse>();

  tell(use: ConnectionUse): void {
    this.#use = use;
  }

  /** Registers the response to a new request of this connection. */
  begin(socket: Duplex, response: ServerResponse): void {
    const line = this.#lineOf(socket);
    if (line.size === 0) this.#use?.busy(socket);
    line.add(response);
    this.#open.add(response);
    response.once('close', () => {
      this.#open.delete(response);
      line.delete(response);
      if (line.size === 0) this.#use?.idle(socket);
    });
  }

  on(socket: Duplex): readonly ServerResponse[] {
    return [...(this.#lines.get(socket) ?? [])];
  }

  /** Number of unfinished answers of all connections. */
  get size(): number {
    return this.#open.size;
  }

  /** Resolves when all answers that are unfinished now are over. */
  async over(): Promise<void> {
    const closes = [...this.#open].map((response) => new Promise((resolve) => response.once('close', resolve)));
    await Promise.all(closes);
  }

  count(socket: Duplex): number {
    return this.#lines.get(socket)?.size ?? 0;
  }

  /** True if the next request has to wait: the limit is reached, or the client does not read. */
  isFull(socket: Socket): boolean {
    const line = this.#lines.get(socket);
    if (line === undefined || line.size === 0) return false;
    if (line.size >= MOST_OF_CONNECTION || this.#open.size >= MOST_IN_ALL || socket.writableNeedDrain) return true;
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

/** Closes the answers that wait behind the one being written. Node does not do it. */
function closeQueued(responses: ReadonlySet<ServerResponse>): void {
  for (const response of responses) {
    if (response.socket !== null) continue;
    response.destroy();
    response.emit('close');
  }
}
