// What an account has seen and LINE does not tell twice: the tokens by which messages are quoted, which messages are our own, names of
// people, and the bot's own id. In memory, the newest of each: after a restart a reply to an older message goes without its quote.

import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import type { Account } from './config.ts';

const MOST = 5_000;

interface Quotable {
  readonly token: string | undefined;
  readonly isOurs: boolean;
}

export class Remembered {
  readonly #messages = new Map<string, Quotable>();
  readonly #names = new Map<string, string>();
  /** The user id of the bot, once LINE was asked. */
  bot: string | undefined;

  sawMessage(id: string, token: string | undefined): void {
    keepNewest(this.#messages, [id, { token, isOurs: false }], MOST);
  }
  sent(id: string, token: string | undefined): void {
    keepNewest(this.#messages, [id, { token, isOurs: true }], MOST);
  }
  quoteOf(id: string): string | undefined {
    return this.#messages.get(id)?.token;
  }
  isOurs(id: string): boolean {
    return this.#messages.get(id)?.isOurs === true;
  }

  named(user: string, name: string): void {
    keepNewest(this.#names, [user, name], MOST);
  }
  nameOf(user: string): string | undefined {
    return this.#names.get(user);
  }
}

const accounts = new WeakMap<Account, Remembered>();

/** Kept for as long as the account's settings live. */
export function rememberedOf(account: Account): Remembered {
  const known = accounts.get(account) ?? new Remembered();
  accounts.set(account, known);
  return known;
}
