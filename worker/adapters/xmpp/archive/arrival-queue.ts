// Queue from the stream to the inbox. The queue keeps the order and stores each archive's cursor with the arrivals.
//
//   XMPP-QUEUE-1  Stanzas are stored in order and in batches. A failed batch is retried until it is stored.
//                 Afterwards `stored` is called, so that the stanza may be acknowledged to the server.
//   XMPP-QUEUE-2  Above MAX_WAITING the stream is not read (backpressure), so memory stays bounded.
//   XMPP-QUEUE-3  `close` resolves after the rest is stored. A stanza that cannot be stored stays unacknowledged, so the server keeps it.
import type { Arrival, Logger } from '../../../sdk/index.ts';
import { advance, type Cursor, type Mark, writeCursor } from './cursor.ts';

const MAX_BATCH = 64;
const MAX_WAITING = 1_000;
const RESUME_BELOW = 100;
const RETRY_MS = 1_000;
const LAST_TRIES = 5;

export interface QueueOptions {
  readonly cursor: Cursor;
  store(arrivals: readonly Arrival[], cursor: string): Promise<void>;
  pause(): void;
  resume(): void;
  readonly log: Logger;
}

export interface Queued {
  readonly arrivals: readonly Arrival[];
  /** New position in an archive once this entry is stored. */
  readonly mark?: Mark | undefined;
  stored?(): void;
}

export class ArrivalQueue {
  readonly #options: QueueOptions;
  #cursor: Cursor;
  #waiting: Queued[] = [];
  #running: Promise<void> | undefined;
  #isPaused = false;
  #isClosed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
  }

  get cursor(): Cursor {
    return this.#cursor;
  }

  push(queued: Queued): void {
    this.#waiting.push(queued);
    if (this.#waiting.length > MAX_WAITING && !this.#isPaused) {
      this.#isPaused = true;
      this.#options.pause();
    }
    this.#running ??= this.#run();
  }

  /** Resolves when the queue is empty. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.drained();
  }

  async #run(): Promise<void> {
    // Waits one turn of the event loop, so that stanzas of one packet form one batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      if (!(await this.#store(batch))) this.#waiting = [];
      if (this.#isPaused && this.#waiting.length < RESUME_BELOW) {
        this.#isPaused = false;
        this.#options.resume();
      }
    }
    this.#running = undefined;
  }

  async #store(batch: readonly Queued[]): Promise<boolean> {
    const { store, log } = this.#options;
    const arrivals = batch.flatMap((queued) => queued.arrivals);
    const next = batch.reduce(
      (cursor, { mark }) => (mark === undefined ? cursor : advance(cursor, mark)),
      this.#cursor,
    );
    const isNothing = arrivals.length === 0 && batch.every(({ mark }) => mark?.isFirm !== true);
    for (let tries = 1; ; tries++) {
      try {
        if (!isNothing) await store(arrivals, writeCursor(next));
        this.#cursor = next;
        for (const { stored } of batch) stored?.();
        return true;
      } catch (error) {
        if (this.#isClosed && tries >= LAST_TRIES) {
          log.error({ arrivals: arrivals.length, err: error }, 'stanzas not stored: the server still has them');
          return false;
        }
        if (tries === 1) log.warn({ arrivals: arrivals.length, err: error }, 'stanzas wait: they could not be stored');
        await new Promise((resolve) => setTimeout(resolve, this.#isClosed ? RETRY_MS / 5 : RETRY_MS));
      }
    }
  }
}
