// A post whose attempt before may have reached Discord so long ago that it knows the nonce no more: it is looked for in its channel.
//
//   A1  It is known by what it shows, since no message that is fetched has its nonce: the bot's own, with the same text, buttons and number of
//       files, posted since the send was stored, and none that another send has made.
//   A2  Where the bot may not read what was said, nothing is found, and it is posted.

import type { Link, Outgoing } from '../../sdk/index.ts';
import { asObject, isObject, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { type Answer, call as request } from './client.ts';
import type { Account } from './config.ts';
import { CLOCK_MARGIN_MS } from './gateway/position.ts';
import { messageId, messagesIn, snowflakeAt } from './place.ts';

/** What people see of a message. */
export interface Shown {
  readonly content: string;
  /** Tokens of its buttons, in their order. */
  readonly buttons: readonly string[];
  readonly files: number;
}

/** Those of a send that may be there already; each is found once, in their order. */
export interface Before {
  take(shown: Shown): Json | undefined;
}
type Later = Extract<Answer, { readonly kind: 'later' }>;

const PAGE = 100;
/** What was said in a channel since. */
const MOST_PAGES = 50;

export const NOTHING_BEFORE: Before = { take: () => undefined };

/** Throws when it is not known. */
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
        (one) => authorOf(one) === bot && !others.has(messageId(channel, textAt(one, 'id') ?? '')), // A1
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

/** Discord takes blanks away at the ends. */
const plain = ({ content, buttons, files }: Shown): unknown => [content.trim().replace(/\s+/g, ' '), buttons, files];
