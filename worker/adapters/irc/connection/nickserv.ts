// Logs in with a service of the network, such as NickServ, if the server has no SASL. Pure.
//
//   IRC-NICKSERV-1  The password goes only to the configured service. Prefer the service's full address (NickServ@services.example.net) if the
//                   network has one. A person may take the nick of a service that is offline.
//   IRC-NICKSERV-2  A refusal that would recur with the same password fails the account. An unknown answer is ignored.
import type { Account } from '../config.ts';

export type NickServAnswer = 'logged in' | 'refused' | 'unknown';

type NickServ = NonNullable<Account['nickserv']>;

/** Undefined if account or password would split into several words of the line. */
export function identifyLine({ service, account, password }: NickServ): string | undefined {
  const words = [...(account === undefined ? [] : [account]), password.reveal()];
  const isPlain = words.every((word) => /^[^\s\p{Cc}]+$/u.test(word) && !word.startsWith(':'));
  return isPlain ? `PRIVMSG ${service} :IDENTIFY ${words.join(' ')}` : undefined;
}

/** The nick from which the service answers. */
export const serviceNick = ({ service }: Pick<NickServ, 'service'>): string => service.split('@')[0] ?? service;

/** Reads a service's notice, after the texts of Atheme, Anope and related services. */
export function readNotice(text: string): NickServAnswer {
  const plain = text.replace(/[\p{Cc}]/gu, '').toLowerCase();
  if (
    /(in|not )correct|invalid|wrong|denied|isn't registered|not (a )?registered|is not registered|no such account|suspended|frozen/.test(
      plain,
    )
  )
    return 'refused';
  if (
    /you are now (identified|logged in|recognized)|already (identified|logged in)|password accepted|successfully identified/.test(
      plain,
    )
  )
    return 'logged in';
  return 'unknown';
}
