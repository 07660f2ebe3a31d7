// The channels of one connection: which are ours, which are joined, which the server refused and why.
//
//   C1  A channel that is refused, or that we are kicked from, is tried again: a place may be free by then, a ban over.
//   C2  A refusal is in the log once, until the channel was joined.
import type { IrcLine } from 'irc-framework';
import type { Logger } from '../../sdk/index.ts';
import { type Account, channelsOf } from './config.ts';
import { joinLine } from './registration.ts';

export interface ChannelsOptions {
  readonly account: Account;
  readonly log: Logger;
  lower(text: string): string;
  /** Writes a line, if the connection stands. */
  raw(line: string): void;
}

const JOIN_REFUSED = new Set(['403', '405', '471', '473', '474', '475', '476', '477', '489']);

export class Channels {
  readonly #options: ChannelsOptions;
  readonly #joined = new Set<string>();
  readonly #told = new Set<string>();

  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  get joined(): readonly string[] {
    return [...this.#joined];
  }

  /** True for one of ours in which we are not. */
  isMissing(channel: string): boolean {
    return this.#isOurs(channel) && !this.#joined.has(this.#options.lower(channel));
  }

  /** Asks for each that is not joined. */
  join(): void {
    const { account, log, lower, raw } = this.#options;
    for (const channel of channelsOf(account)) {
      if (this.#joined.has(lower(channel))) continue;
      const line = joinLine(account, channel);
      if (line === undefined) log.warn({ channel }, 'channel not joined: its key is not one word');
      else raw(line);
    }
  }

  /** An error numeric about a channel. */
  refused(numeric: string, channel: string, reason: string): void {
    const name = this.#options.lower(channel);
    if (!JOIN_REFUSED.has(numeric) || !this.isMissing(channel) || this.#told.has(name)) return;
    this.#told.add(name);
    this.#options.log.warn({ channel, numeric, reason }, 'channel not joined: it is tried again');
  }

  /** We came or went; true when we were kicked from one of ours. */
  changed({ command, nick, params }: IrcLine): boolean {
    const [channel = ''] = params;
    const name = this.#options.lower(channel);
    if (command === 'JOIN') {
      this.#joined.add(name);
      this.#told.delete(name);
      return false;
    }
    this.#joined.delete(name);
    if (command !== 'KICK' || !this.#isOurs(channel)) return false;
    this.#options.log.warn({ channel, by: nick }, 'kicked from a channel');
    return true;
  }

  #isOurs(channel: string): boolean {
    const { account, lower } = this.#options;
    const name = lower(channel);
    return channelsOf(account).some((known) => lower(known) === name);
  }
}
