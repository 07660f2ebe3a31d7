// What was said while no session could tell of it: after a gap the channels are asked for messages behind the last one that is stored.
//
//   H1  Messages, and edits of those that were heard: of the last hundred before the gap, in channels in which something was said since. Discord does
//       not tell later of deletions and of when reactions came, and interactions are over.
//   H2  Channels whose last message is older are not asked, nor forums and media channels, which hold threads alone: what they name as their
//       last message is a thread. Private ones are known by their last hundred.
//   H3  Each page is stored before the next one is asked for, and how far it goes with it (position.ts): who comes after a kill goes on there, and what
//       was taken is taken once. The session that was begun is stored before all of them: it is resumed.
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
/** GUILD_FORUM, GUILD_MEDIA. */
const THREADS_ALONE: ReadonlySet<unknown> = new Set([15, 16]);
/** No channel has a lower id. */
const BEFORE_ALL = '0';
const MOST_PAGES = 50;
/** Servers in one page of them. */
const GUILDS = 200;
const MOST_LONGEST_WAIT_MS = 60_000;

export interface Gap {
  readonly shard: ShardOf;
  readonly position: Position;
  /** The cursor of the account, with what a page of this gap brings. */
  cursor(behind?: Behind): string;
  readonly bot: string | undefined;
}

interface Channel {
  readonly id: string;
  readonly guild: string | undefined;
}

/** Throws when it could not be done; it may be repeated. */
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

/** In the order of their ids, from the one that was begun. */
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

/** H3. How many there were. */
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

/** Oldest first. */
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
  /** With it; left out for what is behind the gap. */
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
      ...(wasHeard && isChanged ? edited(message, context) : []), // H1
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

/** Waits where Discord asks for it. What the bot may not see is empty. */
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
