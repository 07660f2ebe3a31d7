// Reads Slack's history for messages that came while the account was away. Slack repeats an event for some minutes only.
//
//   SLACK-CATCH-UP-1  A message has the same id in the history as in its event (workspace, channel, time), so duplicates are dropped.
//                     Nothing is read where these ids could differ: apps of a whole organisation, and channels shared with others.
//   SLACK-CATCH-UP-2  The cursor is the time up to which everything has arrived. While the account is connected, the cursor advances every minute.
//                     Missed messages are stored before that. The history is read at most two days back; the host keeps delivery ids longer.
//   SLACK-CATCH-UP-3  Conversations and threads with recent messages are read first, then the bot's channels.
//                     After a short absence only the first twenty are read. Slack's rate limits are waited out while the account works.
//                     Missed messages may therefore arrive after newer ones.
//   SLACK-CATCH-UP-4  An edit or a removed thread root is reported if the history shows it. The history holds no other removals
//                     and no times of reactions. Missed button presses and commands are lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arrival, Link } from '../../sdk/index.ts';
import { askedWaitMs } from '../../sdk/platform/asked-wait.ts';
import { type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { withAdmins } from './admins.ts';
import { SAID } from './arrivals/events.ts';
import { cursorOf, readCursor, type Seen, seenOf } from './arrivals/seen.ts';
import { type Answer, call } from './client.ts';
import type { Account } from './config.ts';
import { arrivalsOf } from './parse.ts';

const BEAT_MS = 60_000;
/** Messages within this time before the cursor are read again: clocks differ, and Slack may still have been repeating. */
const OVERLAP_MS = 600_000;
const MOST_BACK_MS = 2 * 86_400_000;
const SHORT_MS = 600_000;
const MOST_AFTER_SHORT = 20;
const MOST_PLACES = 200;
const PAGE = 200;
const MOST_CHANNELS = 999;
const MOST_PAGES = 5;

/** Identity of the account's bot. */
interface Self {
  readonly workspace: string;
  readonly organisation: string | undefined;
  readonly bot: string | undefined;
  readonly botId: string | undefined;
}

/** Resolves when all missed messages are stored. Afterwards the cursor keeps advancing until the link's signal aborts. */
export async function catchUp(link: Link<Account>, beatMs = BEAT_MS): Promise<void> {
  const { json } = needed('auth.test', await ask(link, 'auth.test', {}));
  const workspace = textAt(json, 'team_id') ?? '';
  if (!workspace.startsWith('T') || json['is_enterprise_install'] === true)
    return link.log.info({ workspace }, 'an app of an organisation: what it misses is not looked for');
  const self = {
    workspace,
    organisation: textAt(json, 'enterprise_id'),
    bot: textAt(json, 'user_id'),
    botId: textAt(json, 'bot_id'),
  };
  const seen = seenOf(link.account);
  const before = readCursor(link.cursor, workspace, seen);
  const now = Date.now();
  if (before !== undefined) await lookBack(link, self, before.at);
  await link.receive([], cursorOf({ workspace, at: now }, seen));
  void beat(link, self, { beatMs, at: now });
}

/**
 * Advances the cursor. Missed messages are read first if the clock jumped (the machine slept) or the last cursor could not be stored.
 * The latter happens while ingress is paused or the disk is full.
 * Dropped events (over 30,000 an hour), which Slack reports, have the same effect.
 */
async function beat(
  link: Link<Account>,
  self: Self,
  { beatMs, at: from }: { readonly beatMs: number; readonly at: number },
): Promise<void> {
  const seen = seenOf(link.account);
  let isRefused = false;
  let isLeftOut = false;
  for (let at = from; ; ) {
    await sleep(beatMs, undefined, { signal: link.signal, ref: false }).catch(() => {});
    if (link.signal.aborted) return;
    const now = Date.now();
    try {
      if (isRefused) await link.receive([]); // reads no history before the host can store again
      if (seen.takeMissed()) isLeftOut = true;
      if (isLeftOut) await lookBack(link, self, at - SHORT_MS);
      else if (isRefused || now - at > 3 * beatMs + OVERLAP_MS / 2) await lookBack(link, self, at);
      await link.receive([], cursorOf({ workspace: self.workspace, at: now }, seen));
      at = now;
      isRefused = false;
      isLeftOut = false;
    } catch (error) {
      isRefused = true;
      link.log.debug({ err: error }, 'the time up to which all has come was not noted');
    }
  }
}

/** Reads the history since `at`, less the overlap, and stores the missed messages. */
async function lookBack(link: Link<Account>, self: Self, at: number): Promise<void> {
  const now = Date.now();
  const oldest = Math.max(at - OVERLAP_MS, now - MOST_BACK_MS);
  const most = now - at < SHORT_MS ? MOST_AFTER_SHORT : MOST_PLACES;
  const places = await placesOf(link, seenOf(link.account), most);
  let messages = 0;
  let refused = 0;
  // The loop adds threads to `places` as it finds them.
  for (const place of places) {
    const found = await historyOf(link, place, oldest);
    if (found === undefined) {
      refused += 1;
      continue;
    }
    const of = { place, self, account: link.account, oldest, heard: at };
    const arrivals = await withAdmins(
      link.account,
      found.flatMap((one) => arrivalsIn(one, of)),
    );
    if (arrivals.length > 0) await link.receive(arrivals);
    messages += arrivals.length;
    for (const thread of threadsIn(found, place, oldest)) if (places.size < most) places.add(thread);
  }
  const told = { since: new Date(oldest).toISOString(), places: places.size, messages, refused };
  if (messages > 0 || refused > 0) link.log.info(told, 'looked through the history for what was missed');
  if (places.size >= MOST_PLACES)
    link.log.warn(told, 'there are more conversations than are looked through for what was missed');
}

/** Threads with a reply since `oldest`. */
const threadsIn = (messages: readonly Json[], place: string, oldest: number): readonly string[] =>
  place.includes(':')
    ? []
    : messages.flatMap((one) =>
        timeOf(textAt(one, 'latest_reply')) > oldest ? [`${place}:${textAt(one, 'ts')}`] : [],
      );

async function placesOf(link: Link<Account>, seen: Seen, most: number): Promise<Set<string>> {
  const known = seen.newestFirst();
  const args = { types: 'public_channel,private_channel', exclude_archived: true, limit: MOST_CHANNELS };
  const answer = await ask(link, 'users.conversations', args);
  if (answer.kind === 'refused') {
    link.log.warn({ reason: answer.reason }, 'the channels are not told: what was missed there is not looked for');
    return new Set(known.filter((place) => place.startsWith('D')).slice(0, most));
  }
  const channels = listAt(answer.json, 'channels');
  const own = channels.flatMap((one) => (isShared(one) ? [] : (textAt(one, 'id') ?? [])));
  const isOwn = new Set(own);
  const spoken = known.filter((place) => place.startsWith('D') || isOwn.has(place.split(':', 1)[0] ?? ''));
  return new Set([...new Set([...spoken, ...own])].slice(0, most));
}

/** In a shared channel a message's id may differ between event and history. */
const isShared = (channel: Json): boolean =>
  ['is_ext_shared', 'is_org_shared', 'is_pending_ext_shared'].some((key) => channel[key] === true);

/**
 * Messages of a channel or thread, oldest first. Undefined if the app may not read it.
 * Slack lists a channel from the newest message on, so the last page also holds older ones. A thread always includes its root.
 */
async function historyOf(link: Link<Account>, place: string, oldest: number): Promise<readonly Json[] | undefined> {
  const [channel = '', ts] = place.split(':');
  const messages: Json[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const args = { channel, limit: PAGE, cursor };
    const answer =
      ts === undefined
        ? await ask(link, 'conversations.history', args)
        : await ask(link, 'conversations.replies', { ...args, ts, oldest: (oldest / 1_000).toFixed(6) });
    if (answer.kind === 'refused') {
      link.log.debug({ place, reason: answer.reason }, 'the history is not to be read');
      return undefined;
    }
    messages.push(...listAt(answer.json, 'messages'));
    cursor = textAt(objectAt(answer.json, 'response_metadata'), 'next_cursor');
    if (cursor === undefined || (ts === undefined && messages.some((one) => timeOf(one['ts']) < oldest))) break;
    if (page === MOST_PAGES - 1) link.log.warn({ place }, 'more was said there than is caught up with');
  }
  return messages.toSorted((a, b) => timeOf(a['ts']) - timeOf(b['ts']));
}

/** Epoch ms. */
const timeOf = (ts: unknown): number => Number(ts) * 1_000;

interface Of {
  readonly place: string;
  readonly self: Self;
  readonly account: Account;
  readonly oldest: number;
  /** Everything up to this time has arrived, epoch ms. */
  readonly heard: number;
}

/** Arrivals of a message in the history, equal to those of its events. */
function arrivalsIn(message: Json, of: Of): readonly Arrival[] {
  const at = timeOf(message['ts']);
  const isGone = textAt(message, 'subtype') === 'tombstone';
  if (!isGone && !isSaid(message, of.self)) return [];
  const editedAt = textAt(objectAt(message, 'edited'), 'ts');
  const isChanged = isGone ? at >= Date.now() - MOST_BACK_MS : timeOf(editedAt) >= of.oldest;
  const change = { subtype: 'message_changed', message, ...(editedAt === undefined ? {} : { event_ts: editedAt }) };
  return [
    ...(!isGone && at >= of.oldest ? asEvent(message, of) : []),
    ...(isChanged && at <= of.heard ? asEvent(change, of) : []), // edits and removals of messages that arrived before
  ];
}

const isSaid = (message: Json, { botId }: Self): boolean =>
  SAID.has(textAt(message, 'subtype')) && (botId === undefined || textAt(message, 'bot_id') !== botId);

function asEvent(event: Json, { place, self, account }: Of): readonly Arrival[] {
  const payload = {
    type: 'event_callback',
    team_id: self.workspace,
    enterprise_id: self.organisation,
    event_id: 'history',
    authorizations: [{ is_bot: true, user_id: self.bot }],
    event: { ...event, type: 'message', channel: place.split(':', 1)[0] },
  };
  return arrivalsOf(payload, account, Date.now());
}

/** Calls a method and waits out rate limits. */
async function ask(
  link: Link<Account>,
  method: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Exclude<Answer, { kind: 'later' }>> {
  for (;;) {
    const answer = await call(link, method, args);
    if (answer.kind !== 'later') return answer;
    await sleep(askedWaitMs(answer.afterMs), undefined, { signal: link.signal });
  }
}

function needed(method: string, answer: Exclude<Answer, { kind: 'later' }>): Extract<Answer, { kind: 'ok' }> {
  if (answer.kind === 'ok') return answer;
  throw new Error(`${method}: ${answer.reason}`);
}
