// The order within each conversation of IRC and of a webhook, over all lives: what was stored first is handled first, and answered first.
import type { FakeIrcServer } from '../../../support/fake-platforms/irc-server.ts';
import type { History } from './history.ts';
import { type CrashRecord, type Delivery, keyOf } from './record.ts';

export interface Ordered {
  readonly record: CrashRecord;
  readonly history: History;
  readonly irc: ReadonlyMap<string, FakeIrcServer>;
}

interface Stored {
  readonly delivery: Delivery;
  readonly item: string;
  /** Where in the history it was stored. */
  readonly at: number;
}

export interface OrderVerdict {
  readonly faults: readonly string[];
  /** Pairs of neighbours that were looked at: none would prove nothing. */
  readonly pairs: number;
}

export function judgeConversations({ record, history, irc }: Ordered): OrderVerdict {
  const faults: string[] = [];
  let pairs = 0;
  for (const [conversation, stored] of conversationsOf(record, history)) {
    for (const [index, later] of stored.entries()) {
      const earlier = stored[index - 1];
      if (earlier === undefined) continue;
      pairs += 1;
      const [first, second] = [history.doneAt.get(earlier.item), history.doneAt.get(later.item)];
      if (first !== undefined && second !== undefined && first > second)
        faults.push(`${later.delivery.token} was handled before ${earlier.delivery.token}, of ${conversation} too`);
    }
    const [sample] = stored;
    const server = sample?.delivery.via === 'irc' ? irc.get(sample.delivery.endpoint) : undefined;
    if (server !== undefined) faults.push(...judgeAnswers(stored, server), ...judgeArrivals(stored, server));
  }
  return { faults, pairs };
}

/** Those that are stored, by conversation, in the order in which they were. */
function conversationsOf(record: CrashRecord, history: History): ReadonlyMap<string, Stored[]> {
  const conversations = new Map<string, Stored[]>();
  for (const delivery of record.deliveries.values()) {
    const { via, endpoint, deliveryId, conversation } = delivery;
    const item = history.item(endpoint, deliveryId);
    const at = item === undefined ? undefined : history.receivedAt.get(item);
    if (via === 'sandbox' || item === undefined || at === undefined) continue;
    const key = keyOf(endpoint, conversation);
    conversations.set(key, [...(conversations.get(key) ?? []), { delivery, item, at }]);
  }
  for (const stored of conversations.values()) stored.sort((a, b) => a.at - b.at);
  return conversations;
}

/** Over IRC an answer may come again in the next life, but never after one to a later line. */
function judgeAnswers(stored: readonly Stored[], server: FakeIrcServer): string[] {
  const person = stored[0]?.delivery.conversation;
  const places = new Map(stored.map(({ delivery }, place) => [delivery.token, place]));
  const faults: string[] = [];
  let last: { readonly text: string; readonly place: number } | undefined;
  for (const { target, text } of server.heard) {
    const place = target === person ? places.get(text) : undefined;
    if (place === undefined) continue;
    if (last !== undefined && place < last.place) faults.push(`${person} was answered ${last.text} before ${text}`);
    last = { text, place };
  }
  return faults;
}

/** Lines of one connection are stored in the order in which they were written. */
function judgeArrivals(stored: readonly Stored[], server: FakeIrcServer): string[] {
  const said = new Map(server.said.map((line) => [line.msgid, line]));
  return stored.flatMap(({ delivery }, index) => {
    const [line, before] = [said.get(delivery.deliveryId), said.get(stored[index - 1]?.delivery.deliveryId ?? '')];
    const isBack = line !== undefined && before?.connection === line.connection && before.place > line.place;
    return isBack ? [`line ${line.msgid} of connection ${line.connection} was stored after ${before.msgid}`] : [];
  });
}
