// Regains the wanted nick, when it becomes free while the connection uses another one.
import type { IrcLine } from 'irc-framework';
import type { Account } from '../config.ts';

export interface NickKeeperOptions {
  readonly account: Account;
  readonly current: () => string;
  /** Called when the wanted nick is in use by us again. */
  readonly regained: () => void;
  lower(text: string): string;
  raw(line: string): void;
}

export class NickKeeper {
  readonly #options: NickKeeperOptions;

  constructor(options: NickKeeperOptions) {
    this.#options = options;
  }

  get isWorn(): boolean {
    return this.#isWanted(this.#options.current());
  }

  /** True for the nick that we use now. */
  isOurs(nick: string): boolean {
    return this.#options.lower(nick) === this.#options.lower(this.#options.current());
  }

  regain(): void {
    if (!this.isWorn) this.#options.raw(`NICK ${this.#options.account.nick}`);
  }

  /** Handles a line NICK or QUIT. The nick's holder may have left it, or we may have regained it. */
  onLine({ command, nick, params }: IrcLine): void {
    const next = command === 'NICK' ? (params[0] ?? '') : '';
    // The client library may process our new nick before or after this line.
    if (this.#isWanted(nick)) this.regain();
    else if (this.#isWanted(next) && (this.isOurs(nick) || this.isOurs(next))) this.#options.regained();
  }

  #isWanted(nick: string): boolean {
    return this.#options.lower(nick) === this.#options.lower(this.#options.account.nick);
  }
}
