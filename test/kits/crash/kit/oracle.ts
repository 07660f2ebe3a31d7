// Whether the host kept its promises, from the driver's own record of what it sent, what was acknowledged and what the platforms got.
//
//   O1  What was acknowledged is stored once and handled once; what was refused is not stored.
//   O2  Each answer of a stored delivery is at the platform: once by webhook-id, at most once a life over IRC, once in the sandbox; in the
//       order of the conversation. What was not stored has no answer.
//   O3  Lines of one IRC connection are stored in order: none is missing before one that is there.
//   O4  Event ids never go back; each event once, in order, without a hole, for clients that resume; and the history still says the same.
//   O5  Nothing is left open, nothing is dead, and the listed states agree with what happened.
//   O6  Within a conversation of IRC or of a webhook what was stored first is handled first, and over IRC answered first (order.ts).
import type { FakeIrcServer } from '../../../support/fake-platforms/irc-server.ts';
import type { ShownPost, WebhookPlatform } from '../../../support/fake-platforms/webhook-platform.ts';
import type { History } from './history.ts';
import type { HostApi } from './host-api.ts';
import { answersTo } from './load.ts';
import { judgeConversations } from './order.ts';
import { type CrashRecord, type Delivery, keyOf } from './record.ts';
import { fingerprint, type StreamFollower } from './stream-follower.ts';

export interface Evidence {
  readonly record: CrashRecord;
  readonly history: History;
  readonly platform: WebhookPlatform;
  readonly irc: ReadonlyMap<string, FakeIrcServer>;
  readonly followers: readonly StreamFollower[];
}

/** What can be told without the host. */
export function judgeRecord(evidence: Evidence): readonly string[] {
  const { record, platform, followers } = evidence;
  return [
    ...record.faults,
    ...platform.faults,
    ...followers.flatMap(({ faults }) => faults),
    ...judgeStored(evidence),
    ...judgeWebhook(evidence),
    ...judgeOrder(evidence),
    ...judgeConversations(evidence).faults,
    ...judgeIrc(evidence),
  ];
}

/** The rest, from the host that runs again. */
export async function judgeHost(evidence: Evidence, api: HostApi): Promise<readonly string[]> {
  return [
    ...(await judgeStates(evidence, api)),
    ...(await judgeSandbox(evidence, api)),
    ...(await judgeEvents(evidence, api)),
  ];
}

function judgeStored({ record, history }: Evidence): string[] {
  const faults = history.failed.map((failure) => `unexpected end: ${failure}`);
  for (const delivery of record.deliveries.values()) {
    const { via, deliveryId, endpoint, fate } = delivery;
    const items = history.received.get(keyOf(endpoint, deliveryId)) ?? [];
    const name = `${via} ${delivery.token} (${fate})`;
    if (items.length > 1) faults.push(`${name} was stored ${items.length} times`);
    if (fate === 'acknowledged' && items.length === 0) faults.push(`${name} was acknowledged and is lost`);
    if (fate === 'refused' && items.length > 0) faults.push(`${name} was refused and is stored`);
    for (const item of items) {
      const done = history.done.get(item) ?? 0;
      if (done !== 1) faults.push(`${name} was handled ${done} times`);
    }
  }
  for (const [item, times] of history.sent) if (times !== 1) faults.push(`send ${item} is told as sent ${times} times`);
  return faults;
}

function judgeWebhook({ record, history, platform }: Evidence): string[] {
  const faults: string[] = [];
  const shown = groupBy([...platform.posts.values()], ({ account, conversation }) => `${account} ${conversation}`);
  for (const delivery of record.deliveries.values()) {
    if (delivery.via !== 'webhook') continue;
    const posts = answersIn(shown.get(`${delivery.endpoint.split('~')[1]} ${delivery.conversation}`) ?? [], delivery);
    const due = history.item(delivery.endpoint, delivery.deliveryId) === undefined ? 0 : answersTo(delivery.kind);
    if (posts.length !== due)
      faults.push(
        `${delivery.kind} ${delivery.token} (${delivery.fate}) has ${posts.length} answers on the platform instead of ${due}`,
      );
  }
  for (const { key, taken, unanswered, text } of platform.posts.values()) {
    const repeats = taken.length - new Set(taken).size;
    if (repeats > unanswered)
      faults.push(
        `${key} ("${text}") was posted ${taken.length} times in lives ${taken.join(', ')}, ${unanswered} of them unanswered`,
      );
  }
  return faults;
}

const answersIn = (posts: readonly ShownPost[], { kind, token }: Delivery): readonly ShownPost[] =>
  kind === 'echo'
    ? posts.filter(({ text }) => text === token)
    : kind === 'plain'
      ? posts.filter(({ text }) => text.includes(token))
      : posts;

/** Where one delivery was acknowledged before the next was begun, their answers came in that order. */
function judgeOrder({ record, platform }: Evidence): string[] {
  const orders = new Map([...platform.posts.values()].map(({ account, text, order }) => [`${account} ${text}`, order]));
  const echoes = [...record.deliveries.values()].filter(
    ({ via, kind, fate }) => via === 'webhook' && kind === 'echo' && fate === 'acknowledged',
  );
  const faults: string[] = [];
  for (const conversation of groupBy(echoes, ({ endpoint, conversation: id }) => `${endpoint} ${id}`).values()) {
    const orderOf = ({ endpoint, token }: Delivery): number => orders.get(`${endpoint.split('~')[1]} ${token}`) ?? -1;
    for (const [index, later] of conversation.entries()) {
      const wrong = conversation
        .slice(0, index)
        .find(
          (earlier) =>
            (earlier.endedAt ?? 0) < later.startedAt && orderOf(earlier) > orderOf(later) && orderOf(later) >= 0,
        );
      if (wrong !== undefined)
        faults.push(`${later.token} was answered before ${wrong.token}, which was acknowledged before it was sent`);
    }
  }
  return faults;
}

function judgeIrc({ record, history, irc }: Evidence): string[] {
  const faults: string[] = [];
  for (const [endpoint, server] of irc) {
    const heard = groupBy(server.heard, ({ target, text }) => `${target} ${text}`);
    for (const [connection, lines] of groupBy(server.said, (line) => line.connection)) {
      const isStored = lines.map(({ msgid }) => history.item(endpoint, msgid) !== undefined);
      const hole = isStored.findIndex((stored, index) => !stored && isStored.includes(true, index));
      if (hole >= 0)
        faults.push(`line ${lines[hole]?.msgid} of connection ${connection} is lost and a later one is stored`);
      if (server.connection === connection && isStored.includes(false))
        faults.push(`a line of connection ${connection} is lost, and the connection stands`);
    }
    for (const { msgid, from } of server.said) {
      const delivery = record.deliveries.get(keyOf(endpoint, msgid));
      const lives = (heard.get(`${from} ${delivery?.token}`) ?? []).map(({ stamp }) => stamp);
      const due = history.item(endpoint, msgid) !== undefined;
      if (due && lives.length === 0) faults.push(`line ${msgid} was stored and never answered`);
      if (!due && lives.length > 0) faults.push(`line ${msgid} was answered and is not stored`);
      if (new Set(lives).size !== lives.length)
        faults.push(`line ${msgid} was answered twice in one life: ${lives.join(', ')}`);
    }
  }
  return faults;
}

async function judgeStates({ history }: Evidence, api: HostApi): Promise<string[]> {
  const faults: string[] = [];
  const open = await api.unfinished();
  if (open > 0) faults.push(`${open} items are left open`);
  const listed = new Map((await api.inbox()).map((item) => [item.id, item]));
  for (const items of history.received.values()) {
    for (const id of items) {
      const state = listed.get(id)?.state ?? 'gone';
      if (state !== 'done') faults.push(`item ${id} is listed as ${state}`);
      listed.delete(id);
    }
  }
  for (const { id, endpoint, deliveryId } of listed.values())
    faults.push(`item ${id} (${endpoint} ${deliveryId}) is listed, and no event told of it`);
  return faults;
}

async function judgeSandbox({ record, history }: Evidence, api: HostApi): Promise<string[]> {
  const faults: string[] = [];
  const lines = [...record.deliveries.values()].filter(({ via, kind }) => via === 'sandbox' && kind === 'echo');
  for (const [conversation, echoes] of groupBy(lines, ({ conversation: id }) => id)) {
    const said = await api.said(conversation.replace(/^dm-/, ''));
    for (const { endpoint, deliveryId, token, fate } of echoes) {
      const answers = said.filter((text) => text === token).length;
      const due = history.item(endpoint, deliveryId) === undefined ? 0 : 1;
      if (answers !== due) faults.push(`sandbox line ${token} (${fate}) has ${answers} answers instead of ${due}`);
    }
  }
  return faults;
}

/** The history as it is now says what it said to those who followed it. */
async function judgeEvents({ followers }: Evidence, api: HostApi): Promise<string[]> {
  const faults: string[] = [];
  let due = 1;
  for await (const envelope of api.events()) {
    const seq = Number(String(envelope['id']).split('.')[1]);
    if (seq !== due) faults.push(`the history has event ${seq} where ${due} is due`);
    due = seq + 1;
    const now = fingerprint(String(envelope['type']), envelope);
    for (const { seen } of followers)
      if (seen.has(seq) && seen.get(seq) !== now) faults.push(`event ${seq} was "${seen.get(seq)}" and is "${now}"`);
  }
  return faults.slice(0, 20);
}

function groupBy<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
