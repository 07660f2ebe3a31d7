// Commands that show "thinking…" to their person until something comes of them. Kept in this process alone: what is forgotten in a crash is
// ended by Discord itself after its fifteen minutes, and the reply does not depend on it.
import type { Account } from './config.ts';

/** Discord takes the token for 15 minutes. */
const VALID_MS = 14 * 60_000;
const MOST = 1_000;

export interface Deferral {
  readonly conversation: string;
  readonly token: string;
  /** Discord knows of it, or never will: before that there is no "thinking…" to take away. */
  readonly told?: Promise<void>;
}

interface Waiting extends Deferral {
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Deferred {
  #waiting: Waiting[] = [];
  #expired: (token: string) => void = () => {};

  /** Called for those that nothing came of. */
  onExpired(expired: (token: string) => void): void {
    this.#expired = expired;
  }

  /** False when it is known already: Discord tells again what it is not sure of. */
  add(deferral: Deferral): boolean {
    const { token } = deferral;
    if (this.#waiting.some((one) => one.token === token)) return false;
    const timer = setTimeout(() => {
      this.#waiting = this.#waiting.filter((one) => one.token !== token);
      this.#expired(token);
    }, VALID_MS);
    timer.unref();
    this.#waiting.push({ timer, ...deferral });
    if (this.#waiting.length > MOST) clearTimeout(this.#waiting.shift()?.timer);
    return true;
  }

  /** The one that has waited longest there. */
  first(conversation: string): Deferral | undefined {
    return this.#waiting.find((one) => one.conversation === conversation);
  }

  has(token: string): boolean {
    return this.#waiting.some((one) => one.token === token);
  }

  /** Something came of it: it is taken out, and true. */
  end(token: string): boolean {
    const found = this.#waiting.find((one) => one.token === token);
    if (found === undefined) return false;
    clearTimeout(found.timer);
    this.#waiting = this.#waiting.filter((one) => one !== found);
    return true;
  }
}

const accounts = new WeakMap<Account, Deferred>();

export function deferredOfAccount(account: Account): Deferred {
  const known = accounts.get(account) ?? new Deferred();
  accounts.set(account, known);
  return known;
}
