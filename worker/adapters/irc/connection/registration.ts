// Registration with the server: options of the connection, and the meaning of refusals. Pure.
//
//   IRC-REGISTRATION-1  A nick in use is replaced by another one: the alternates first, then up to ten generated nicks.
//   IRC-REGISTRATION-2  A refusal that would recur for the same account fails it, to avoid a loop. Examples: password, SASL account, ban, invalid
//                       nick.
import type { ClientOptions } from 'irc-framework';
import { accountFailed } from '../../../sdk/index.ts';
import { socketReason } from '../../../sdk/platform/socket-reason.ts';
import type { Account } from '../config.ts';
import { MORE_NICKS, nickForTry } from './nick.ts';
import type { SessionTiming } from './timing.ts';

/** Options of the client library. The library's reconnects and answers to CTCP are off. */
export function clientOptions(account: Account, { pingMs }: Pick<SessionTiming, 'pingMs'>): ClientOptions {
  return {
    host: account.server,
    port: account.port,
    tls: account.tls,
    rejectUnauthorized: account.verifyCertificate,
    nick: account.nick,
    username: account.username,
    gecos: account.realname,
    password: account.password?.reveal() ?? '',
    account:
      account.sasl === undefined ? {} : { account: account.sasl.account, password: account.sasl.password.reveal() },
    sasl_disconnect_on_fail: true,
    auto_reconnect: false,
    version: '',
    ping_interval: pingMs / 1_000,
    // The library's timeout is off, because it waits until its QUIT is written. On a dead connection that never happens.
    ping_timeout: 0,
  };
}

export interface Refusal {
  readonly command: string;
  readonly reason: string;
  /** Number of refused nicks, including this one. */
  readonly nicksTried: number;
  /** Longest nick on this server, if known so far. */
  readonly nickLimit: number;
}
export type Next =
  | { readonly kind: 'nick'; readonly nick: string }
  | { readonly kind: 'fail'; readonly error: Error }
  | { readonly kind: 'go on' };

/** Decides how to react to an error before the server's welcome. */
export function afterRefusal(account: Account, { command, reason, nicksTried, nickLimit }: Refusal): Next {
  switch (command) {
    case '433':
    case '436':
    case '437': {
      if (nicksTried > account.alternateNicks.length + MORE_NICKS) return fail(new Error('every nick is in use'));
      return {
        kind: 'nick',
        nick: nickForTry(account, nicksTried, Math.max(nickLimit, Math.min(account.nick.length + 3, 30))),
      };
    }
    case '432':
      return fail(
        accountFailed(
          `the server does not take the nick ${account.nick}`,
          'choose another nick in svc.config.yml and reload',
        ),
      );
    case '464':
      return fail(accountFailed('the server refused the password', 'correct it in .env and reload'));
    case 'ERROR':
      // InspIRCd and ngircd send no numeric for this refusal.
      return /access denied by configuration|access denied: bad password/i.test(reason)
        ? fail(
            accountFailed(
              'the server lets in nobody with this password or from this address',
              'correct password in .env and reload; or ask the operators of the server, then: svc endpoints reconnect',
            ),
          )
        : { kind: 'go on' };
    case '465':
      return fail(
        accountFailed(
          `banned from the server: ${reason.slice(0, 100)}`,
          'ask the operators of the network, then: svc endpoints reconnect',
        ),
      );
    default:
      return { kind: 'go on' };
  }
}

/** The reason of a lost connection. The server's last ERROR text says more than the socket's error. */
export function connectionLost(cause: unknown, lastWords: string | undefined): Error {
  const words = lastWords?.replaceAll(/\p{Cc}/gu, '').slice(0, 200);
  const why = words ? `the server says: ${words}` : cause instanceof Error ? socketReason(cause) : '';
  return new Error(why === '' ? 'connection lost' : `connection lost: ${why}`, { cause });
}

/** Wrong credentials stay wrong, so they fail the account. A server may lack SASL only temporarily. */
export function saslError(reason: string): Error {
  if (reason === 'fail' || reason === 'nick_locked')
    return accountFailed(
      'the server refused the SASL account',
      'correct sasl.account, or its password in .env, and reload',
    );
  const why = reason === 'capability_missing' ? 'the server does not offer it' : reason;
  return new Error(`SASL is not possible now: ${why}`);
}

/** Bytes of a JOIN line, well below the protocol's limit of 512. */
const JOIN_BYTES = 400;

export interface Joins {
  readonly lines: readonly string[];
  /** Channels whose key would split into several words. */
  readonly left: readonly string[];
}

/**
 * Puts as many channels into a line as fit, because servers disconnect a client with many JOIN lines (Excess Flood). Channels with keys come first
 * (RFC 2812).
 */
export function joinLines({ channelKeys }: Account, channels: readonly string[]): Joins {
  const all = channels.map((channel) => ({
    channel,
    key: channelKeys.find((known) => known.channel === channel)?.key.reveal(),
  }));
  const left = all.filter(({ key }) => key !== undefined && !isWord(key));
  const lines: string[] = [];
  let some: Joined[] = [];
  for (const one of all.toSorted((a, b) => Number(a.key === undefined) - Number(b.key === undefined))) {
    if (left.includes(one)) continue;
    if (some.length > 0 && Buffer.byteLength(joinLine([...some, one])) > JOIN_BYTES) {
      lines.push(joinLine(some));
      some = [];
    }
    some.push(one);
  }
  if (some.length > 0) lines.push(joinLine(some));
  return { lines, left: left.map(({ channel }) => channel) };
}

interface Joined {
  readonly channel: string;
  readonly key: string | undefined;
}

const joinLine = (some: readonly Joined[]): string =>
  ['JOIN', some.map(({ channel }) => channel).join(','), some.flatMap(({ key }) => key ?? []).join(',')]
    .join(' ')
    .trimEnd();

const isWord = (key: string): boolean => /^[^\s,\p{Cc}]+$/u.test(key) && !key.startsWith(':');

/** The service does not know the account, or the password is wrong. */
export const nickservRefused = (): Error =>
  accountFailed('the service refused to log in', 'correct nickserv.account, or its password in .env, and reload');

const fail = (error: Error): Next => ({ kind: 'fail', error });
