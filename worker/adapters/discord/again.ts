// Searches the channel for a post that an earlier attempt may have sent. Discord has forgotten the nonce of that attempt by then.
//
//   DISCORD-AGAIN-1  Fetched messages carry no nonce, so a post is recognized by its content. A match is the bot's own message, newer than the stored
//                    send, with the same text, buttons and file count. No other send has made that message.
//   DISCORD-AGAIN-2  If the bot may not read the channel's history, nothing is found and the post is sent again.

import type { Link, Outgoing } from '../../sdk/index.ts';
import { asObject, isObject, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { type Answer, call as request } from './client.ts';
import type { Account } from './config.ts';
import { CLOCK_MARGIN_MS } from './gateway/position.ts';
import { messageId, messagesIn, snowflakeAt } from './place.ts';

/** The visible parts of a message, used for comparison. */
export interface Shown {
  readonly content: string;
  /** Tokens of the buttons, in the order of the buttons. */
  readonly buttons: readonly string[];
  readonly files: number;
}

/** Possible earlier copies of a send. Each copy is handed out once, oldest first. */
export interface Before {
  take(shown: Shown): Json | undefined;
}
type Later = Extract<Answer, { readonly kind: 'later' }>;

const PAGE = 100;
/** Limit on pages of channel history that one search reads. */
const MOST_PAGES = 50;

export const NOTHING_BEFORE: Before = { take: () => undefined };

/** Throws if the history cannot be read, since the answer is then unknown. */
export async function postedBefore(
  { search = { from: Date.now(), others: [] } }: Pick<Outgoing, 'search'>,
  channel: string,
  link: Link<Account>,
): Promise<Before | Later> {
  const application = await request(link, { method: 'GET', path: '/applications/@me' });
  if (application.kind === 'later') return application;
  if (application.kind === 'refused') return NOTHING_BEFORE;
  const bot = textAt(objectAt(asObject(application.json), 'bot'), 'id') ?? link.account.applicationId;
  const others = new Set(search.others.flatMap(messagesIn));
  const ours: Json[] = [];
  for (let after = snowflakeAt(search.from - CLOCK_MARGIN_MS), pages = 0; pages < MOST_PAGES; pages += 1) {
    const query = { after, limit: String(PAGE) };
    const answer = await request(link, { method: 'GET', path: `/channels/${channel}/messages`, query });
    if (answer.kind === 'later') return answer;
    const found = answer.kind === 'ok' && Array.isArray(answer.json) ? answer.json.filter(isObject).toReversed() : [];
    ours.push(
      ...found.filter(
        // the bot's own messages that no other send has made
        (one) => authorOf(one) === bot && !others.has(messageId(channel, textAt(one, 'id') ?? '')),
      ),
    );
    after = textAt(found.at(-1) ?? {}, 'id') ?? after;
    if (found.length < PAGE) break;
  }
  return {
    take(shown) {
      const at = ours.findIndex((one) => isSame(shownIn(one), shown));
      return at === -1 ? undefined : ours.splice(0, at + 1).at(-1);
    },
  };
}

const authorOf = (message: Json): string | undefined => textAt(objectAt(message, 'author'), 'id');

function shownIn(message: Json): Shown {
  const buttons = listAt(message, 'components')
    .flatMap((row) => listAt(row, 'components'))
    .map((button) => textAt(button, 'custom_id') ?? '');
  return { content: textAt(message, 'content') ?? '', buttons, files: listAt(message, 'attachments').length };
}

const isSame = (a: Shown, b: Shown): boolean => JSON.stringify(plain(a)) === JSON.stringify(plain(b));

/** Discord trims whitespace at both ends of a text. */
const plain = ({ content, buttons, files }: Shown): unknown => [content.trim().replace(/\s+/g, ' '), buttons, files];
