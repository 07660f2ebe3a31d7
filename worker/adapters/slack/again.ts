// Finds a post whose earlier attempt may have reached Slack. Every message of ours carries its idempotency key in its metadata.
//
//   SLACK-AGAIN-1  The search covers messages since the host stored the post, at most MOST_PAGES pages.
//                  Slack lists a channel from the newest message on, and a thread with its root first.
//   SLACK-AGAIN-2  If Slack asks to wait between two pages, the next attempt continues with the due page.
//                  Newer messages are not ours, so skipping them is safe.

import type { Link, Outgoing } from '../../sdk/index.ts';
import { type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import { type Answer, call } from './client.ts';
import type { Account } from './config.ts';
import { messageId } from './place.ts';

const TYPE = 'svc_message';
const PAGE = 200;
const MOST_PAGES = 5;
/** Allowed difference between our clock and Slack's. */
const MARGIN_MS = 600_000;
const MOST_KEPT = 1_000;

export interface Place {
  readonly channel: string;
  /** Timestamp of the thread's first message. */
  readonly thread: string | undefined;
}

type Later = Extract<Answer, { kind: 'later' }>;
interface Search {
  readonly channel: string;
  readonly thread: string | undefined;
  /** Epoch seconds. */
  readonly oldest: number;
}
interface Page {
  readonly number: number;
  readonly cursor: string | undefined;
}
/** The page at which the next attempt continues, by endpoint and idempotency key. */
const due = new Map<string, Page>();

/** Message metadata that holds the idempotency key. Slack's clients do not show it. */
export const metadataOf = ({ key }: Pick<Outgoing, 'key'>): object => ({ event_type: TYPE, event_payload: { key } });

/** Name of the message if it was posted. Undefined if it was not, or if the app may not read the history. */
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

/** Undefined after the last page, at MOST_PAGES, or once a channel's page reaches messages older than the post. */
function pageAfter({ number }: Page, json: Json, { thread, oldest }: Search): Page | undefined {
  const cursor = textAt(objectAt(json, 'response_metadata'), 'next_cursor') ?? '';
  const isOlder = thread === undefined && listAt(json, 'messages').some((one) => Number(one['ts']) < oldest);
  return cursor === '' || isOlder || number === MOST_PAGES ? undefined : { number: number + 1, cursor };
}

function isOurs(message: Json, key: string): boolean {
  const metadata = objectAt(message, 'metadata');
  return metadata['event_type'] === TYPE && objectAt(metadata, 'event_payload')['key'] === key;
}

/** For a person's id, returns the channel of the direct messages with that person. */
async function channelOf(id: string, link: Link<Account>): Promise<string | Later | undefined> {
  if (!/^[UW]/.test(id)) return id;
  const answer = await call(link, 'conversations.open', { users: id });
  if (answer.kind === 'later') return answer;
  return answer.kind === 'ok' ? textAt(objectAt(answer.json, 'channel'), 'id') : undefined;
}
