// Channels of one connection: the configured ones, the joined ones, and refusals with their reasons.
//
//   IRC-CHANNELS-1  A channel that refused or kicked us is tried again later. A full channel may have room by then, or a ban may have ended.
//   IRC-CHANNELS-2  A refusal is logged once, until the channel was joined.
//   IRC-CHANNELS-3  Nothing is heard from a configured channel that is not joined, so it is reported as trouble of the account.
import type { IrcLine } from 'irc-framework';
import type { Logger } from '../../../sdk/index.ts';
import { type Account, channelsOf } from '../config.ts';
import { joinLines } from './registration.ts';

export interface ChannelsOptions {
  readonly account: Account;
  readonly log: Logger;
  lower(text: string): string;
  /** Writes a line if the connection is open. */
  raw(line: string): void;
  /** Reports channels that are not joined. Undefined: all are joined. */
  standing(trouble: string | undefined): void;
}

const JOIN_REFUSED = new Set('403 405 437 470 471 473 474 475 476 477 479 480 489 520'.split(' '));

export class Channels {
  readonly #options: ChannelsOptions;
  readonly #joined = new Set<string>();
  /** Reason by channel that is not joined. */
  readonly #reasons = new Map<string, string>();
  #isSettled = false;
  #trouble: string | undefined;

  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  get joined(): readonly string[] {
    return [...this.#joined];
  }

  /** The server has answered the first joins. Missing channels are reported from now on. */
  settled(): void {
    this.#isSettled = true;
    this.#options.standing(undefined);
    this.#tell();
  }

  /** True for a configured channel that is not joined. */
  isMissing(channel: string): boolean {
    return this.#isOurs(channel) && !this.#joined.has(this.#options.lower(channel));
  }

  /** Requests all channels that are not joined. */
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

  /** Handles an error numeric about a channel. */
  refused(numeric: string, channel: string, reason: string): void {
    const name = this.#options.lower(channel);
    if (!JOIN_REFUSED.has(numeric) || !this.isMissing(channel) || this.#reasons.has(name)) return;
    this.#reasons.set(name, reason);
    this.#options.log.warn({ channel, numeric, reason }, 'channel not joined: it is tried again');
    this.#tell();
  }

  /** Handles our own join, part or kick. True if we were kicked from a configured channel. */
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

  /** Reports configured channels that are not joined, if their list changed. */
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
