// Logs in with a service of the network before the channels are joined. For networks without SASL.
import type { IrcLine } from 'irc-framework';
import type { Logger } from '../../../sdk/index.ts';
import type { Account } from '../config.ts';
import { identifyLine, type NickServAnswer, readNotice, serviceNick } from './nickserv.ts';
import { nickservRefused } from './registration.ts';

export interface ServiceLoginOptions {
  readonly account: Account;
  readonly log: Logger;
  /** Time limit in ms. Without an answer the account continues, because services are offline at times. */
  readonly limitMs: number;
  lower(text: string): string;
  raw(line: string): void;
  after(delayMs: number, run: () => void): void;
}

export class ServiceLogin {
  readonly #options: ServiceLoginOptions;
  #answer: (answer: NickServAnswer) => void = () => {};

  constructor(options: ServiceLoginOptions) {
    this.#options = options;
  }

  /**
   * Resolves after login or after the limit. Throws `accountFailed` if the service refuses.
   * Without a configured account name the service uses the nick. Under another nick, the login waits until the wanted nick is regained.
   */
  async run(isNickWorn: boolean): Promise<void> {
    const { account, log, limitMs, raw, after } = this.#options;
    const { nickserv } = account;
    if (nickserv === undefined) return;
    if (nickserv.account === undefined && !isNickWorn)
      return log.info({ service: nickserv.service }, 'not logged in under another nick: waiting for ours');
    const line = identifyLine(nickserv);
    if (line === undefined) throw nickservRefused();
    const answered = new Promise<NickServAnswer>((resolve) => {
      this.#answer = resolve;
      after(limitMs, () => resolve('unknown'));
    });
    raw(line);
    const answer = await answered;
    if (answer === 'refused') throw nickservRefused();
    if (answer === 'unknown') log.warn({ service: nickserv.service }, 'no answer to the login: going on without');
  }

  /** The server itself reports the login. */
  loggedIn(): void {
    this.#answer('logged in');
  }

  onNotice({ nick, params }: IrcLine): void {
    const { account, lower } = this.#options;
    if (account.nickserv === undefined || lower(nick) !== lower(serviceNick(account.nickserv))) return;
    const answer = readNotice(params.at(-1) ?? '');
    if (answer !== 'unknown') this.#answer(answer);
  }
}
