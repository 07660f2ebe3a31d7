// A post whose attempt before may have reached Slack: looked for by the key that every message of ours carries in its metadata.
//
//   R1  Looked through is what was said since the host stored the post, and no more than MOST_PAGES of it. A channel is told from its newest
//       message on, a thread from its root and then from that time on.
//   R2  Where Slack asks to wait between two pages, the next attempt goes on with the page that was due: what is newer by then is not ours.

import type { Link, Outgoing } from '../../sdk/index.ts';
import { type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import { type Answer, call } from './client.ts';
import type { Account } from './config.ts';
import { messageId } from './place.ts';

const TYPE = 'svc_message';
const PAGE = 200;
const MOST_PAGES = 5;
/** Our clock and Slack's may be so far apart. */
const MARGIN_MS = 600_000;
const MOST_KEPT = 1_000;

export interface Place {
  readonly channel: string;
  /** The root. */
  readonly thread: string | undefined;
}

type Later = Extract<Answer, { kind: 'later' }>;
interface Search {
  readonly channel: string;
  readonly thread: string | undefined;
  /** Seconds. */
  readonly oldest: number;
}
interface Page {
  readonly number: number;
  readonly cursor: string | undefined;
}
/** R2: by endpoint and key. */
const due = new Map<string, Page>();

/** What a message is known by, and nobody sees. */
export const metadataOf = ({ key }: Pick<Outgoing, 'key'>): object => ({ event_type: TYPE, event_payload: { key } });

/** The name of the message that is there already. Undefined when there is none, or when the app may not look. */
export async function postedBefore(
  { key, search: since }: Pick<Outgoing, 'key' | 'search'>,
  place: Place,
  link: Link<Account>,
): Promise<string | Later | undefined> {
  const channel = await channelOf(place.channel, link);
  if (typeof channel !== 'string') return channel;
  const search = { channel, thread: place.thread, oldest: Math.max(0, ((since?.from ?? 0) - MARGIN_MS) / 1_000) };
  const name = `${link.endpoint} ${key}`;
  let page: Page | undefined = due.get(name) ?? { number: 1, cursor: undefined };
  due.delete(name);
  while (page !== undefined) {
    const answer = await ask(search, page, link);
    if (answer.kind === 'refused') return undefined;
    if (answer.kind === 'later') {
      keepNewest(due, [name, page], MOST_KEPT);
      return answer;
    }
    const ts = listAt(answer.json, 'messages').find((message) => isOurs(message, key))?.['ts'];
    if (typeof ts === 'string') return messageId(channel, ts);
    page = pageAfter(page, answer.json, search);
  }
  return undefined;
}

function ask({ channel, thread, oldest }: Search, { cursor }: Page, link: Link<Account>): Promise<Answer> {
  const common = { channel, include_all_metadata: true, limit: PAGE, cursor };
  return thread === undefined
    ? call(link, 'conversations.history', common)
    : call(link, 'conversations.replies', { ...common, ts: thread, oldest: oldest.toFixed(6) });
}

/** R1. */
function pageAfter({ number }: Page, json: Json, { thread, oldest }: Search): Page | undefined {
  const cursor = textAt(objectAt(json, 'response_metadata'), 'next_cursor') ?? '';
  const isOlder = thread === undefined && listAt(json, 'messages').some((one) => Number(one['ts']) < oldest);
  return cursor === '' || isOlder || number === MOST_PAGES ? undefined : { number: number + 1, cursor };
}

function isOurs(message: Json, key: string): boolean {
  const metadata = objectAt(message, 'metadata');
  return metadata['event_type'] === TYPE && objectAt(metadata, 'event_payload')['key'] === key;
}

/** Of a person: the channel that the bot has with them. */
async function channelOf(id: string, link: Link<Account>): Promise<string | Later | undefined> {
  if (!/^[UW]/.test(id)) return id;
  const answer = await call(link, 'conversations.open', { users: id });
  if (answer.kind === 'later') return answer;
  return answer.kind === 'ok' ? textAt(objectAt(answer.json, 'channel'), 'id') : undefined;
}
