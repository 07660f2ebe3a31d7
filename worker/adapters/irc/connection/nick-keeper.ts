// The wanted nick while another one is worn: taken back as soon as it is free.
import type { IrcLine } from 'irc-framework';
import type { Account } from '../config.ts';

export interface NickKeeperOptions {
  readonly account: Account;
  readonly current: () => string;
  /** The wanted nick is worn again. */
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

  /** The nick that is worn now. */
  isOurs(nick: string): boolean {
    return this.#options.lower(nick) === this.#options.lower(this.#options.current());
  }

  regain(): void {
    if (!this.isWorn) this.#options.raw(`NICK ${this.#options.account.nick}`);
  }

  /** A line NICK or QUIT: who had the nick leaves it, or we have got it. */
  onLine({ command, nick, params }: IrcLine): void {
    const next = command === 'NICK' ? (params[0] ?? '') : '';
    // The client library may have taken the new nick in before us, or not yet.
    if (this.#isWanted(nick)) this.regain();
    else if (this.#isWanted(next) && (this.isOurs(nick) || this.isOurs(next))) this.#options.regained();
  }

  #isWanted(nick: string): boolean {
    return this.#options.lower(nick) === this.#options.lower(this.#options.account.nick);
  }
}
