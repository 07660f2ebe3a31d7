// Logging in with a service of the network, where the server has no SASL: what is written, and what the answer means. Pure.
//
//   N1  The password goes to the service that the account names and to nobody else. Where the network has them, give the service's full
//       address (NickServ@services.example.net): a person may take the nick of a service that is away.
//   N2  A refusal that the same password would get again fails the account; an answer that is not understood fails nothing.
import type { Account } from '../config.ts';

export type NickServAnswer = 'logged in' | 'refused' | 'unknown';

type NickServ = NonNullable<Account['nickserv']>;

/** Undefined where the words could be read as more than one. */
export function identifyLine({ service, account, password }: NickServ): string | undefined {
  const words = [...(account === undefined ? [] : [account]), password.reveal()];
  const isPlain = words.every((word) => /^[^\s\p{Cc}]+$/u.test(word) && !word.startsWith(':'));
  return isPlain ? `PRIVMSG ${service} :IDENTIFY ${words.join(' ')}` : undefined;
}

/** The nick under which the service answers. */
export const serviceNick = ({ service }: Pick<NickServ, 'service'>): string => service.split('@')[0] ?? service;

/** What a notice of the service says, in the words of Atheme, Anope and their kin. */
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
