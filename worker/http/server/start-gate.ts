// Holds requests back until the host is up. It listens before that, so that nobody is refused over a restart.
//
//   START-GATE-1  Probes and the readiness report pass at once. Every other request waits, ten seconds at most, then gets 503 `starting`.
//   START-GATE-2  Requests that wait begin in the order in which they came. Nothing of them has been read but the head.
//   START-GATE-3  If the start ends otherwise (a stop, a failure), all that wait get that error.
import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../../shared/svc-error.ts';
import { HEALTH_PATH, READY_PATH } from '../routes/health.ts';
import { READINESS_PATH } from '../routes/system.ts';

/** Platforms give a delivery up after some ten seconds, and repeat it after 503. */
const MOST_WAIT_MS = 10_000;
const RETRY_AFTER_MS = 2_000;
const PASSING: ReadonlySet<string> = new Set([HEALTH_PATH, READY_PATH, READINESS_PATH]);

interface Waiting {
  begin(): void;
  refuse(error: SvcError): void;
}

export class StartGate {
  readonly #mostWaitMs: number;
  readonly #waiting = new Set<Waiting>();
  #end: 'open' | SvcError | undefined;

  /** A server that has not to wait for a host is made with an open gate. */
  constructor({ isOpen = false, mostWaitMs = MOST_WAIT_MS } = {}) {
    this.#mostWaitMs = mostWaitMs;
    if (isOpen) this.#end = 'open';
  }

  get isOpen(): boolean {
    return this.#end === 'open';
  }

  /** Resolves when the host is up. Rejects with the error of the answer. */
  pass(): Promise<void> {
    if (this.#end === 'open') return Promise.resolve();
    if (this.#end !== undefined) return Promise.reject(this.#end);
    return new Promise<void>((resolve, reject) => {
      const waiting: Waiting = { begin: () => end(resolve), refuse: (error) => end(() => reject(error)) };
      const timer = setTimeout(() => waiting.refuse(starting()), this.#mostWaitMs);
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        settle();
      };
      this.#waiting.add(waiting);
    });
  }

  /** The host is up. */
  open(): void {
    if (this.#end !== undefined) return;
    this.#end = 'open';
    for (const { begin } of this.#waiting) begin();
  }

  /** The host will not be up. Changes nothing once it was. Without an error: it could not start. */
  refuse(error: SvcError = starting()): void {
    if (this.#end === 'open') return;
    this.#end = error;
    for (const { refuse } of this.#waiting) refuse(error);
  }
}

/** True for probes and the report, with any query. */
export function passesStart({ url = '' }: IncomingMessage, base: string): boolean {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  return PASSING.has(path) || (path.startsWith(base) && PASSING.has(path.slice(base.length)));
}

const starting = (): SvcError =>
  new SvcError('starting', 'the host is not up yet', { details: { retryAfterMs: RETRY_AFTER_MS } });
