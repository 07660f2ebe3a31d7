// Commands whose person sees "thinking…" until a reply comes. Kept in memory only.
// Discord ends forgotten ones itself after fifteen minutes, and replies do not depend on them.
import type { Account } from '../config.ts';

/** Discord accepts the token for 15 minutes. */
const VALID_MS = 14 * 60_000;
const MOST = 1_000;

export interface Deferral {
  readonly conversation: string;
  /** The private conversation with the person of the command. A reply there answers the command, too. */
  readonly aside?: string;
  readonly token: string;
  /** Resolves when Discord has the answer or never will. Before that, no "thinking…" exists to remove. */
  readonly told?: Promise<void>;
}

interface Waiting extends Deferral {
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Deferred {
  /** By token, in order of arrival. */
  readonly #waiting = new Map<string, Waiting>();
  /** Tokens of each conversation, and of each private one, in order of arrival. Many may wait and each reply looks one up, so an index is needed. */
  readonly #tokens = new Map<string, Set<string>>();
  #expired: (token: string) => void = () => {};

  /** Called for each command that got no reply in time. */
  onExpired(expired: (token: string) => void): void {
    this.#expired = expired;
  }

  /** False if it is known already, because Discord may replay an interaction. */
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

  /** The oldest waiting command of the conversation. */
  first(conversation: string): Deferral | undefined {
    const [token = ''] = this.#tokens.get(conversation) ?? [];
    return this.#waiting.get(token);
  }

  has(token: string): boolean {
    return this.#waiting.has(token);
  }

  /** Removes a command that got a reply. True if it was waiting. */
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
