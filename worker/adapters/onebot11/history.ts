// Fetches messages that were missed without a connection, from the history of recent conversations.
// The history is an extension of some implementations (NapCat, LLOneBot, go-cqhttp).
//
//   ONEBOT11-HISTORY-1  The newest COUNT messages of each conversation are read, at most MOST_BACK_S back. Those from the last known second on are
//                       passed on, and the inbox drops duplicates. Older messages, and notices, stay missed.
//   ONEBOT11-HISTORY-2  Unknown conversations are read from the last second with any message, if the implementation lists recent contacts (NapCat).
//                       For that, an account without messages stores the second of its first start.
//   ONEBOT11-HISTORY-3  New events wait until the history is read, to keep the order.
//   ONEBOT11-HISTORY-4  A conversation that cannot be read does not block the others. A call that the implementation lacks is made once. After
//                       MOST_SILENT failures in a row, the fetch stops for now.

import type { Arrival, Link } from '../../sdk/index.ts';
import { isObject, type Json, listAt, objectAt } from '../../sdk/platform/foreign-json.ts';
import type { Answer } from './calls/answer.ts';
import { sessionOf } from './calls/caller.ts';
import type { Session } from './calls/session.ts';
import type { Account } from './config.ts';
import { idAt, idOut, numberAt } from './message/json.ts';
import { arrivalsOf } from './parse.ts';
import { type Place, placeName, readPlace } from './place.ts';

const COUNT = 50;
const LIMIT_MS = 15_000;
/** The inbox remembers ids for at least three days (`inbox.idDays`), so duplicates within two are dropped. */
const MOST_BACK_S = 2 * 86_400;
const MOST_SILENT = 3;

/** Throws if an existing history could not be read. The host then asks again. */
export async function catchUp(link: Link<Account>): Promise<void> {
  const session = sessionOf(link);
  if (session?.seen === undefined) return;
  if (session.since.size === 0) return begin(link, session);
  session.events.hold();
  try {
    const recent = await recentPlaces(session);
    await readAll([...recent, ...[...session.since].toReversed()], { link, session });
  } finally {
    session.events.release();
  }
}

interface Reading {
  readonly link: Link<Account>;
  readonly session: Session;
}

/** Reads each conversation. A failure does not block the others, until MOST_SILENT follow in a row. */
async function readAll(places: readonly (readonly [name: string, since: number])[], reading: Reading): Promise<void> {
  const { link } = reading;
  const missing = new Set<string>();
  const failures: unknown[] = [];
  let silent = 0;
  for (const [name, since] of places) {
    const place = readPlace(name);
    if (place === undefined || link.signal.aborted || missing.has(callFor(place)[0])) continue;
    try {
      const answer = await readOne(place, since, reading);
      silent = 0;
      if (answer.kind !== 'refused' || answer.isMissing !== true) continue;
      missing.add(callFor(place)[0]);
      link.log.warn({ reason: answer.reason }, 'what was missed cannot be read: the implementation has no history');
    } catch (error) {
      failures.push(error);
      silent += 1;
      if (silent === MOST_SILENT) break;
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function readOne(place: Place, since: number, { link, session }: Reading): Promise<Answer> {
  const answer = await session.call(...callFor(place), LIMIT_MS);
  const missed = missedOf(answer, place, { session, since });
  if (missed.length > 0) await link.receive(missed, session.seen?.after(missed));
  return answer;
}

/** Stores the current second as cursor, for an account that has seen no message. */
async function begin(link: Link<Account>, { seen, self = '0' }: Session): Promise<void> {
  const name = placeName({ kind: 'private', user: self });
  await link.receive([], seen?.mark(name, Math.floor(Date.now() / 1_000)));
}

/** Recent conversations that the cursor does not contain. Chat type 1 is a person, 2 a group. */
async function recentPlaces(session: Session): Promise<readonly (readonly [name: string, since: number])[]> {
  const since = Math.max(...session.since.values());
  const answer = await session.call('get_recent_contact', { count: COUNT }, LIMIT_MS);
  if (answer.kind !== 'ok') return [];
  return listAt({ contacts: answer.data }, 'contacts').flatMap((one) => {
    const [peer, type, time] = [idAt(one, 'peerUin'), numberAt(one, 'chatType'), numberAt(one, 'msgTime') ?? 0];
    if (peer === undefined || time < since || (type !== 1 && type !== 2)) return [];
    const name = placeName(type === 2 ? { kind: 'group', group: peer } : { kind: 'private', user: peer });
    return session.since.has(name) ? [] : [[name, since] as const];
  });
}

function callFor(place: Place): readonly [action: string, params: object] {
  return place.kind === 'group'
    ? ['get_group_msg_history', { group_id: idOut(place.group), count: COUNT }]
    : ['get_friend_msg_history', { user_id: idOut(place.user), count: COUNT }];
}

/** Messages from the last known second on, oldest first. A refused conversation (the bot left it) yields none. */
function missedOf(
  answer: Answer,
  place: Place,
  { session, since }: { readonly session: Session; readonly since: number },
): readonly Arrival[] {
  if (answer.kind === 'later') throw new Error('the history is put off by the implementation');
  if (answer.kind === 'refused' || !isObject(answer.data)) return [];
  const from = Math.max(since, Date.now() / 1_000 - MOST_BACK_S);
  return listAt(answer.data, 'messages')
    .filter((one) => (numberAt(one, 'time') ?? 0) >= from)
    .toSorted((a, b) => (numberAt(a, 'time') ?? 0) - (numberAt(b, 'time') ?? 0))
    .flatMap((one) => readAsEvent(one, place, session.self));
}

/** Adds fields that some implementations omit because all messages share them. */
function readAsEvent(one: Json, place: Place, self: string | undefined): readonly Arrival[] {
  const event = {
    post_type: 'message',
    self_id: self,
    message_type: place.kind,
    ...(place.kind === 'group' ? { group_id: place.group } : {}),
    user_id: idAt(objectAt(one, 'sender'), 'user_id'),
    ...one,
  };
  try {
    return arrivalsOf(event, { self, now: Date.now() });
  } catch {
    return []; // an unreadable message has no id either
  }
}
