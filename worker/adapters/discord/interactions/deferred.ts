// Commands that show "thinking…" to their person until something comes of them. Kept in this process alone: what is forgotten in a crash is
// ended by Discord itself after its fifteen minutes, and the reply does not depend on it.
import type { Account } from '../config.ts';

/** Discord takes the token for 15 minutes. */
const VALID_MS = 14 * 60_000;
const MOST = 1_000;

export interface Deferral {
  readonly conversation: string;
  /** The private conversation with who gave the command: what is said there for their eyes alone answers it, too. */
  readonly aside?: string;
  readonly token: string;
  /** Discord knows of it, or never will: before that there is no "thinking…" to take away. */
  readonly told?: Promise<void>;
}

interface Waiting extends Deferral {
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Deferred {
  /** By token, in the order in which they came. */
  readonly #waiting = new Map<string, Waiting>();
  /** The tokens of a conversation, and of those aside, in the same order: many may wait, and each reply asks for one. */
  readonly #tokens = new Map<string, Set<string>>();
  #expired: (token: string) => void = () => {};

  /** Called for those that nothing came of. */
  onExpired(expired: (token: string) => void): void {
    this.#expired = expired;
  }

  /** False when it is known already: Discord tells again what it is not sure of. */
  add(deferral: Deferral): boolean {
    const { token } = deferral;
    if (this.has(token)) return false;
    const timer = setTimeout(() => {
      this.end(token);
      this.#expired(token);
    }, VALID_MS);
    timer.unref();
    this.#waiting.set(token, { timer, ...deferral });
    for (const place of placesOf(deferral)) {
      const tokens = this.#tokens.get(place) ?? new Set();
      this.#tokens.set(place, tokens.add(token));
    }
    const [oldest = token] = this.#waiting.keys();
    if (this.#waiting.size > MOST) this.end(oldest);
    return true;
  }

  /** The one that has waited longest there. */
  first(conversation: string): Deferral | undefined {
    const [token = ''] = this.#tokens.get(conversation) ?? [];
    return this.#waiting.get(token);
  }

  has(token: string): boolean {
    return this.#waiting.has(token);
  }

  /** Something came of it: it is taken out, and true. */
  end(token: string): boolean {
    const found = this.#waiting.get(token);
    if (found === undefined) return false;
    clearTimeout(found.timer);
    this.#waiting.delete(token);
    for (const place of placesOf(found)) {
      const tokens = this.#tokens.get(place);
      tokens?.delete(token);
      if (tokens?.size === 0) this.#tokens.delete(place);
    }
    return true;
  }
}

const placesOf = ({ conversation, aside = conversation }: Deferral): readonly string[] => [conversation, aside];

const accounts = new WeakMap<Account, Deferred>();

export function deferredOfAccount(account: Account): Deferred {
  const known = accounts.get(account) ?? new Deferred();
  accounts.set(account, known);
  return known;
}
