// Sends the person's texts and button presses to the host, one at a time and in order.
//
//   CONSOLE-OUTGOING-1  All attempts of one text or press have the same delivery id, so the host accepts it once.
//   CONSOLE-OUTGOING-2  Without an answer, and at 429 and 5xx, a send is retried until it succeeds, also over a restart of the host.
//   CONSOLE-OUTGOING-3  Any other refusal fails the send with a reason, and the next send follows.
import type { Answer, Fault } from './api-client.ts';

export interface Thing {
  readonly delivery: string;
  /** The typed text, to be kept if it stays unsent. */
  readonly text?: string;
  send(delivery: string): Promise<Answer<unknown>>;
  onTaken(): void;
  onWaiting(): void;
  onFailed(fault: Fault): void;
}

const FIRST_WAIT_MS = 300;
const MAX_WAIT_MS = 5_000;

export class Outgoing {
  readonly #things: Thing[] = [];
  #isRunning = false;
  #isClosed = false;
  #wake: () => void = () => {};

  add(thing: Thing): void {
    this.#things.push(thing);
    if (!this.#isRunning) void this.#run();
  }

  /** Texts that the host has not accepted, in order. */
  unsent(): readonly string[] {
    return this.#things.flatMap(({ text }) => (text === undefined ? [] : [text]));
  }

  /** Ends the wait, because the host is back. */
  wake(): void {
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let thing = this.#things[0]; thing !== undefined && !this.#isClosed; thing = this.#things[0]) {
      await this.#sendUntilAnswered(thing);
      this.#things.shift();
    }
    this.#isRunning = false;
  }

  async #sendUntilAnswered(thing: Thing): Promise<void> {
    for (let waitMs = FIRST_WAIT_MS; !this.#isClosed; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      const answer = await thing.send(thing.delivery);
      if (answer.ok) return thing.onTaken();
      const { fault } = answer;
      if (fault.status !== 0 && fault.status !== 429 && fault.status < 500) return thing.onFailed(fault);
      thing.onWaiting();
      await this.#wait(fault.retryAfterMs ?? waitMs * (0.75 + Math.random() / 2));
    }
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Uses getRandomValues, because randomUUID needs a secure context. */
export function newDelivery(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
