// Facts that LINE sends only once: tokens to quote messages, ids of own messages, names of people, the bot's id.
// Kept in memory, newest only. After a restart a reply to an older message lacks its quote.

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
  /** User id of the bot, once LINE was asked. */
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

/** Lives as long as the account object. */
export function rememberedOf(account: Account): Remembered {
  const known = accounts.get(account) ?? new Remembered();
  accounts.set(account, known);
  return known;
}
