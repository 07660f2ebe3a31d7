// Lines that await confirmation by the server. A PONG confirms that the server took every line before its PING.
//
//   IRC-CONFIRMATIONS-1  A wait ends once: by its PONG, by the time limit, or with the connection. The last two throw, because the line may have been
//                        taken. No wait begins after the connection ended, since it would last for its whole limit.
//   IRC-CONFIRMATIONS-2  An error numeric that names the target, between line and PONG, is the server's refusal of the line. A numeric for too many
//                        targets (Undernet, UnrealIRCd, Libera) is a temporary refusal.
import type { SendResult } from '../../sdk/index.ts';

export type Refusal = Exclude<SendResult, { readonly kind: 'sent' }>;
export interface Refused {
  readonly result: Refusal;
  /** Number of refused lines. `result` is that of the first one. */
  readonly lines: number;
}

const MAX_REASON_LENGTH = 200;
const TOO_FAST: ReadonlySet<string> = new Set(['439', '707']);
const TOO_FAST_MS = 60_000;
const NO_SUCH_NICK = '401';
/** Error numerics outside 400–599: too fast, and a person who accepts only listed senders (umode +g). */
const MORE_ERRORS: ReadonlySet<string> = new Set(['707', '716']);

export const isError = (numeric: string): boolean => /^[45]\d\d$/.test(numeric) || MORE_ERRORS.has(numeric);

export function refusalOf(numeric: string, reason: string): Refusal {
  if (!TOO_FAST.has(numeric)) {
    const why = `${reason} (${numeric})`.slice(0, MAX_REASON_LENGTH);
    return { kind: 'refused', reason: why, ...(numeric === NO_SUCH_NICK ? { gone: true } : {}) };
  }
  const [, seconds] = /\b(\d{1,4}) sec/.exec(reason) ?? [];
  return { kind: 'later', afterMs: seconds === undefined ? TOO_FAST_MS : Number(seconds) * 1_000 };
}

interface Waiting {
  readonly target: string | undefined;
  refused: Refused | undefined;
  settle(outcome: { readonly refused: Refused | undefined } | Error): void;
}

export interface ConfirmationOptions {
  readonly limitMs: number;
  lower(text: string): string;
}

export class Confirmations {
  readonly #options: ConfirmationOptions;
  readonly #waiting = new Map<string, Waiting>();
  #end: Error | undefined;

  constructor(options: ConfirmationOptions) {
    this.#options = options;
  }

  /** Resolves with the server's refusal, or with undefined if it took the line. */
  expect(token: string, target?: string): Promise<Refused | undefined> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.#settle(token, new Error(`no PONG within ${this.#options.limitMs} ms`)),
        this.#options.limitMs,
      );
      const settle: Waiting['settle'] = (outcome) => {
        clearTimeout(timer);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome.refused);
      };
      this.#waiting.set(token, {
        target: target === undefined ? undefined : this.#options.lower(target),
        refused: undefined,
        settle,
      });
    });
  }

  pong(token: string): void {
    this.#settle(token, { refused: this.#waiting.get(token)?.refused });
  }

  /** Reports an error numeric about a nick or channel. */
  refused(target: string, refusal: Refusal): void {
    const name = this.#options.lower(target);
    for (const waiting of this.#waiting.values()) {
      if (waiting.target !== name) continue;
      const { result = refusal, lines = 0 } = waiting.refused ?? {};
      waiting.refused = { result, lines: lines + 1 };
    }
  }

  /** Rejects all waits, because the connection ended. */
  end(error: Error): void {
    this.#end = error;
    for (const token of this.#waiting.keys()) this.#settle(token, error);
  }

  #settle(token: string, outcome: { readonly refused: Refused | undefined } | Error): void {
    const waiting = this.#waiting.get(token);
    this.#waiting.delete(token);
    waiting?.settle(outcome);
  }
}
