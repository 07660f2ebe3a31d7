// Queue from the socket to the inbox, in order. IRC repeats nothing, so a received line must be kept until it is stored.
//
//   IRC-ARRIVAL-QUEUE-1  Events are stored in order of arrival, in batches. A failed batch is retried until it is stored.
//   IRC-ARRIVAL-QUEUE-2  With more than MAX_WAITING events queued, the socket is not read. TCP backpressure and the server hold the rest, so memory
//                        stays bounded.
//   IRC-ARRIVAL-QUEUE-3  `close` stores the rest before its promise resolves. Events whose write then fails five times are lost, which is logged.
import type { Arrival, Logger } from '../../sdk/index.ts';

const MAX_BATCH = 64;
const MAX_WAITING = 1_000;
const RESUME_BELOW = 100;
const RETRY_MS = 1_000;
const LAST_TRIES = 5;

export interface ArrivalQueueOptions {
  store(arrivals: readonly Arrival[]): Promise<void>;
  pause(): void;
  resume(): void;
  readonly log: Logger;
}

export class ArrivalQueue {
  readonly #options: ArrivalQueueOptions;
  #waiting: Arrival[] = [];
  #running: Promise<void> | undefined;
  /** Ends the pause. Undefined while the socket is read. */
  #resume: (() => void) | undefined;
  /** Resolves when the socket is read again. Undefined while it is read. */
  flowing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: ArrivalQueueOptions) {
    this.#options = options;
  }

  push(arrival: Arrival): void {
    this.#waiting.push(arrival);
    if (this.#waiting.length > MAX_WAITING && this.#resume === undefined) this.#pause();
    this.#running ??= this.#run();
  }

  /** Resolves when the queue is empty. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#resume?.();
    return this.#running ?? Promise.resolve();
  }

  #pause(): void {
    this.#options.pause();
    this.flowing = new Promise((resolve) => {
      this.#resume = () => {
        this.#resume = undefined;
        this.flowing = undefined;
        this.#options.resume();
        resolve();
      };
    });
  }

  async #run(): Promise<void> {
    // Waits one turn of the event loop, so that lines of one packet form one batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      await this.#store(batch);
      if (this.#waiting.length < RESUME_BELOW) this.#resume?.();
    }
    this.#running = undefined;
  }

  async #store(batch: readonly Arrival[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#options.store(batch);
        return;
      } catch (error) {
        if (this.#isClosed && tries >= LAST_TRIES) {
          this.#options.log.error({ arrivals: batch.length, err: error }, 'lines lost: they could not be stored');
          return;
        }
        if (tries === 1)
          this.#options.log.warn({ arrivals: batch.length, err: error }, 'lines wait: they could not be stored');
        await new Promise((resolve) => setTimeout(resolve, this.#isClosed ? RETRY_MS / 5 : RETRY_MS));
      }
    }
  }
}
