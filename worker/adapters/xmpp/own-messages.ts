// Searches the archive for our own messages, and translates between our id and the archive's id.

import type { Archived } from './archive/archive.ts';
import type { Account } from './config.ts';
import { bareJidOf } from './config.ts';
import type { Conversations } from './conversations.ts';
import { originOf } from './parse.ts';
import { bareOf, NS } from './stanza.ts';
import type { AccountState } from './state.ts';

export interface Where {
  readonly link: { readonly account: Account };
  readonly state: AccountState;
  readonly conversations: Conversations;
  readonly to: string;
  readonly isGroup: boolean;
}

const PAGE = 50;
/** Number of newest pages to search. */
const MOST_PAGES = 6;

/** The id by which others refer to the message that we sent with this id. Undefined if it is not found or there is no archive. */
export async function ownMessage(where: Where, id: string): Promise<string | undefined> {
  const found = await newest(where, ({ message }) => isOurs(where, message.attrs['from']) && hasId(message, id));
  return found && (where.isGroup ? found.id : id);
}

/** The id that the author gave this message. Undefined if it is no longer known. */
export async function originIn(where: Where, message: string): Promise<string | undefined> {
  const known = where.state.ids.known(where.to, message);
  if (known !== undefined) return known.origin;
  if (!where.isGroup || !where.conversations.hasArchive(where.to)) return message;
  const found = await newest(where, ({ id }) => id === message);
  return found === undefined ? undefined : originOf(found.message);
}

async function newest(where: Where, isIt: (one: Archived) => boolean): Promise<Archived | undefined> {
  const { conversations, isGroup, to, link } = where;
  const self = bareJidOf(link.account);
  const place = isGroup ? to : self;
  if (!conversations.hasArchive(place)) return undefined;
  let before = '';
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await conversations.archive.page(place, {
      before,
      most: PAGE,
      ...(isGroup ? {} : { with: bareOf(to) }),
    });
    const found = page?.items.findLast(isIt);
    if (found !== undefined) return found;
    const oldest = page?.items[0]?.id;
    if (page === undefined || oldest === undefined || page.items.length < PAGE) return undefined;
    before = oldest;
  }
  return undefined;
}

const hasId = (message: Archived['message'], id: string): boolean =>
  message.attrs['id'] === id || message.getChild('origin-id', NS.sid)?.attrs['id'] === id;

/** In a room our id is proof enough, because nobody knows it before we have sent it. */
const isOurs = ({ isGroup, link }: Where, from = ''): boolean => isGroup || bareOf(from) === bareJidOf(link.account);
