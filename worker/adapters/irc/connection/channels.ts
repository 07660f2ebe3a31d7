// The channels of one connection: which are ours, which are joined, which the server refused and why.
//
//   C1  A channel that is refused, or that we are kicked from, is tried again: a place may be free by then, a ban over.
//   C2  A refusal is in the log once, until the channel was joined.
//   C3  A channel of ours that we are not in is heard by nobody here: it is told as what does not work of the account.
import type { IrcLine } from 'irc-framework';
import type { Logger } from '../../../sdk/index.ts';
import { type Account, channelsOf } from '../config.ts';
import { joinLines } from './registration.ts';

export interface ChannelsOptions {
  readonly account: Account;
  readonly log: Logger;
  lower(text: string): string;
  /** Writes a line, if the connection stands. */
  raw(line: string): void;
  /** C3. Undefined: we are in all of them. */
  standing(trouble: string | undefined): void;
}

const JOIN_REFUSED = new Set('403 405 437 470 471 473 474 475 476 477 479 480 489 520'.split(' '));

export class Channels {
  readonly #options: ChannelsOptions;
  readonly #joined = new Set<string>();
  /** Why we are not in them. */
  readonly #reasons = new Map<string, string>();
  #isSettled = false;
  #trouble: string | undefined;

  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  get joined(): readonly string[] {
    return [...this.#joined];
  }

  /** The server has answered to the first joins: from now on it is told where we are not. */
  settled(): void {
    this.#isSettled = true;
    this.#options.standing(undefined);
    this.#tell();
  }

  /** True for one of ours in which we are not. */
  isMissing(channel: string): boolean {
    return this.#isOurs(channel) && !this.#joined.has(this.#options.lower(channel));
  }

  /** Asks for all that are not joined. */
  join(): void {
    const { account, log, lower, raw } = this.#options;
    const { lines, left } = joinLines(
      account,
      channelsOf(account).filter((channel) => !this.#joined.has(lower(channel))),
    );
    for (const line of lines) raw(line);
    for (const channel of left) {
      this.#reasons.set(lower(channel), 'its key is not one word');
      log.warn({ channel }, 'channel not joined: its key is not one word');
    }
  }

  /** An error numeric about a channel. */
  refused(numeric: string, channel: string, reason: string): void {
    const name = this.#options.lower(channel);
    if (!JOIN_REFUSED.has(numeric) || !this.isMissing(channel) || this.#reasons.has(name)) return;
    this.#reasons.set(name, reason);
    this.#options.log.warn({ channel, numeric, reason }, 'channel not joined: it is tried again');
    this.#tell();
  }

  /** We came or went; true when we were kicked from one of ours. */
  changed({ command, nick, params }: IrcLine): boolean {
    const [channel = ''] = params;
    const name = this.#options.lower(channel);
    if (command === 'JOIN') {
      this.#joined.add(name);
      this.#reasons.delete(name);
    } else this.#joined.delete(name);
    this.#tell();
    if (command !== 'KICK' || !this.#isOurs(channel)) return false;
    this.#options.log.warn({ channel, by: nick }, 'kicked from a channel');
    return true;
  }

  /** C3. */
  #tell(): void {
    const { account, lower, standing } = this.#options;
    const missing = channelsOf(account).filter((channel) => !this.#joined.has(lower(channel)));
    const why = (channel: string): string => this.#reasons.get(lower(channel)) ?? '';
    const trouble = missing.map((channel) => `not in ${channel}: ${why(channel)}`.replace(/: $/, '')).join('; ');
    if (!this.#isSettled || trouble === (this.#trouble ?? '')) return;
    this.#trouble = trouble === '' ? undefined : trouble;
    standing(this.#trouble);
  }

  #isOurs(channel: string): boolean {
    const { account, lower } = this.#options;
    const name = lower(channel);
    return channelsOf(account).some((known) => lower(known) === name);
  }
}
