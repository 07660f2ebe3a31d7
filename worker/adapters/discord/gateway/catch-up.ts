// Fetches messages that were missed during a gap, a time without a gateway session. Each channel is asked for messages after the last stored one.
//
//   DISCORD-CATCH-UP-1  Fetched are new messages, and edits among the last hundred messages before the gap. Channels without a new message are
//                       skipped. Discord does not report past deletions or reaction times, and missed interactions have expired.
//   DISCORD-CATCH-UP-2  Channels whose last message is older than the gap are skipped. Forums and media channels are skipped too: they contain
//                       threads only, and name a thread as their last message. The last hundred private channels are remembered in the cursor.
//   DISCORD-CATCH-UP-3  Each page is stored with its position before the next one is requested. A process that starts after a kill continues there,
//                       and duplicates are dropped. The new session is stored before the first page, so that it can be resumed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Link } from '../../../sdk/index.ts';
import { asObject, isObject, type Json, listAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { type Call, call } from '../client.ts';
import type { Account } from '../config.ts';
import { prepareGuilds } from '../guild-admins.ts';
import { Members } from '../members.ts';
import { edited, said } from '../parse.ts';
import { timeOf } from '../place.ts';
import { contextOf } from './gateway.ts';
import { type Behind, MARGIN_MS, type Position, type Reached } from './position.ts';
import { isOfShard, type ShardOf } from './shard.ts';

const PAGE = 100;
/** Channel types GUILD_FORUM and GUILD_MEDIA. These channels contain threads, not messages. */
const THREADS_ALONE: ReadonlySet<unknown> = new Set([15, 16]);
/** Lower than any channel id. */
const BEFORE_ALL = '0';
const MOST_PAGES = 50;
/** Servers on one page of the list. */
const GUILDS = 200;
const MOST_LONGEST_WAIT_MS = 60_000;

export interface Gap {
  readonly shard: ShardOf;
  readonly position: Position;
  /** The account's cursor, including the position after a page of this gap. */
  cursor(behind?: Behind): string;
  readonly bot: string | undefined;
}

interface Channel {
  readonly id: string;
  readonly guild: string | undefined;
}

/** Throws if the messages could not be fetched. May be repeated. */
export async function fillGaps(link: Link<Account>, gaps: readonly Gap[]): Promise<void> {
  let asked: Promise<readonly string[]> | undefined;
  const guilds = (): Promise<readonly string[]> => (asked ??= guildsOf(link));
  for (const gap of gaps) await fillGap(link, gap, guilds);
}

async function fillGap(link: Link<Account>, gap: Gap, guilds: () => Promise<readonly string[]>): Promise<void> {
  const { position } = gap;
  if (position.since === undefined) return;
  const members = new Members((path) => ask(link, { method: 'GET', path }));
  let count = 0;
  for (let { since } = position; since !== undefined; { since } = position) {
    position.reach({ since, channel: BEFORE_ALL, after: since });
    await link.receive([], gap.cursor());
    for (const channel of leftOf(await channelsOf(link, { ...gap, since }, guilds), position))
      count += await fetchMessages(link, gap, { ...channel, since, members });
    position.filled(since);
    await link.receive([], gap.cursor());
  }
  link.log.info({ messages: count }, 'what was said while Discord could not be heard was fetched');
}

/** Channels in ascending order of id, from the one that was begun. */
function leftOf(channels: readonly Channel[], { reached }: Position): readonly Channel[] {
  const from = BigInt(reached?.channel ?? BEFORE_ALL);
  const left = channels.filter(({ id }) => /^\d+$/.test(id) && BigInt(id) >= from);
  return left.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}

async function channelsOf(
  link: Link<Account>,
  { shard, position, since }: Gap & { readonly since: string },
  guilds: () => Promise<readonly string[]>,
): Promise<readonly Channel[]> {
  const { intents } = link.account;
  const channels: Channel[] = intents.includes('DIRECT_MESSAGES')
    ? position.privateChannels.map((id) => ({ id, guild: undefined }))
    : [];
  if (!intents.includes('GUILD_MESSAGES')) return channels;
  for (const guild of (await guilds()).filter((id) => isOfShard(shard, id))) {
    const all = [
      ...jsonList(await ask(link, { method: 'GET', path: `/guilds/${guild}/channels` })),
      ...listAt(asObject(await ask(link, { method: 'GET', path: `/guilds/${guild}/threads/active` })), 'threads'),
    ];
    for (const channel of all) {
      const [id, last] = [textAt(channel, 'id'), textAt(channel, 'last_message_id')];
      const isNewer = last !== undefined && BigInt(last) > BigInt(since);
      if (id !== undefined && isNewer && !THREADS_ALONE.has(channel['type'])) channels.push({ id, guild });
    }
  }
  return channels;
}

async function guildsOf(link: Link<Account>): Promise<readonly string[]> {
  const guilds: string[] = [];
  for (;;) {
    const after = guilds.at(-1);
    const query = { limit: String(GUILDS), ...(after === undefined ? {} : { after }) };
    const page = jsonList(await ask(link, { method: 'GET', path: '/users/@me/guilds', query }));
    guilds.push(...page.flatMap((guild) => textAt(guild, 'id') ?? []));
    if (page.length < GUILDS) return guilds;
  }
}

type Place = Channel & { readonly since: string; readonly members: Members };

/** Stores each page with its position before the next request. Returns the number of events. */
async function fetchMessages(link: Link<Account>, gap: Gap, place: Place): Promise<number> {
  const { since, id: channel } = place;
  const { reached } = gap.position;
  const isBegun = reached?.channel === channel;
  let after = isBegun ? reached.after : since;
  let count = isBegun ? 0 : await storePage(link, gap, { place, found: await page(link, place, { before: after }) });
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const found = await page(link, place, { after });
    const last = found.at(-1);
    after = last === undefined ? after : idOf(last);
    count += await storePage(link, gap, { place, found, reached: { since, channel, after } });
    if (found.length < PAGE) return count;
  }
  link.log.warn({ channel, messages: count }, 'more was said in this channel than is fetched after a gap');
  return count;
}

/** One page of messages, oldest first. */
async function page(
  link: Link<Account>,
  { id, guild }: Channel,
  from: Readonly<Record<string, string>>,
): Promise<readonly Json[]> {
  const query = { ...from, limit: String(PAGE) };
  const found = jsonList(await ask(link, { method: 'GET', path: `/channels/${id}/messages`, query }));
  return found
    .map((message) => ({ ...message, channel_id: id, ...(guild === undefined ? {} : { guild_id: guild }) }))
    .toSorted((a, b) => (BigInt(idOf(a)) < BigInt(idOf(b)) ? -1 : 1));
}

interface Page {
  readonly place: Place;
  readonly found: readonly Json[];
  /** Position after this page. Undefined for messages from before the gap. */
  readonly reached?: Reached;
}

async function storePage(link: Link<Account>, gap: Gap, { place, found, reached }: Page): Promise<number> {
  const { since } = place;
  if (place.guild !== undefined && found.length > 0) await prepareGuilds(link, [place.guild]);
  const context = contextOf(link.account, gap);
  const sinceAt = timeOf(since) ?? 0;
  const isNew = (message: Json): boolean => BigInt(idOf(message)) > BigInt(since);
  const missed = await place.members.completed(found.filter(isNew), context);
  const arrivals = [...found.filter((message) => !isNew(message)), ...missed].flatMap((message) => {
    const isMissed = isNew(message);
    const wasHeard = (timeOf(idOf(message)) ?? 0) <= sinceAt + MARGIN_MS;
    const isChanged = Date.parse(textAt(message, 'edited_timestamp') ?? '') >= sinceAt;
    return [
      ...(isMissed ? said(message, context) : []),
      ...(wasHeard && isChanged ? edited(message, context) : []), // edits of messages from before the gap
    ];
  });
  if (reached !== undefined) {
    await link.receive(arrivals, gap.cursor({ reached }));
    gap.position.reach(reached);
  } else if (arrivals.length > 0) await link.receive(arrivals);
  return arrivals.length;
}

const idOf = (message: Json): string => (/^\d+$/.test(textAt(message, 'id') ?? '') ? String(message['id']) : '0');
const jsonList = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Waits while Discord limits the rate. Resolves to an empty list if the bot may not see the resource. */
async function ask(link: Link<Account>, request: Call): Promise<unknown> {
  for (;;) {
    const answer = await call(link, request);
    if (answer.kind === 'ok') return answer.json;
    if (answer.kind === 'refused') {
      if (answer.status === 403 || answer.status === 404) return [];
      throw new Error(answer.reason);
    }
    await sleep(Math.min(answer.afterMs, MOST_LONGEST_WAIT_MS), undefined, { signal: link.signal });
  }
}
