// What the person said and pressed, on its way to the host: one at a time, in order.
//
//   O1  Each thing has one delivery id for all its tries, so the host takes it once, however often it is sent.
//   O2  Without an answer, and at 429 and 5xx, it is tried again until it is taken: also over a restart of the host.
//   O3  Any other refusal fails it, with the reason; what is behind it goes on.
import type { Answer, Fault } from './api-client.ts';

export interface Thing {
  readonly delivery: string;
  /** What the person typed, for who has to give it back. */
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

  /** Texts that the host has not taken, in order. */
  unsent(): readonly string[] {
    return this.#things.flatMap(({ text }) => (text === undefined ? [] : [text]));
  }

  /** Tries at once: the host is back. */
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

/** Random, also on pages that are not in a secure context. */
export function newDelivery(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
