// Builds a person's view of a conversation from stored arrivals and sent outbox rows. Pure.
//
//   CHAT-VIEW-1  A message keeps its first position. Its `n` is that of its last change, so "after n" also returns edits of old messages.
//   CHAT-VIEW-2  A removed message stays in the list without text and buttons. Changes of messages no longer stored are dropped.
//   CHAT-VIEW-3  Only the addressee sees a message with `only`.
//   CHAT-VIEW-4  Ids of the bot's messages start with `sandbox-`, ids of people's messages with `in-`.
//                The bot's text is Markdown, people's text is literal.
import { type Arrival, type Outgoing, type Segment } from '../../sdk/index.ts';
import { conversationId, type Place } from './arrival.ts';

export interface InboundRow {
  /** Grows in the order in which rows became visible. Both kinds of rows share the sequence. */
  readonly n: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly arrival: Arrival;
}
export interface OutboundRow {
  readonly n: number;
  readonly at: number;
  readonly call: Outgoing;
}
/** Same shape as `ChatMessage` of the HTTP interface. */
export interface ChatMessage {
  readonly n: number;
  readonly id: string;
  readonly from: string;
  readonly text: string;
  readonly at: string;
  readonly buttons: readonly {
    readonly label: string;
    readonly token: string;
    readonly style?: 'primary' | 'danger';
  }[];
  readonly removed: boolean;
  readonly reactions: readonly string[];
}

export const BOT = 'svc';

/** Message id for an idempotency key. Edits, presses and reactions refer to it. */
export function sandboxMessageId(key: string): string {
  return `sandbox-${key}`;
}

/** Messages of the conversation, oldest first. Rows of other conversations are ignored. */
export function chatView(
  inbound: readonly InboundRow[],
  outbound: readonly OutboundRow[],
  place: Place,
): readonly ChatMessage[] {
  const conversation = conversationId(place);
  const rows = [
    ...inbound.filter(({ arrival }) => arrival.conversation.id === conversation),
    ...outbound.filter(({ call }) => call.conversation === conversation && isFor(call, place.person)),
  ].sort((a, b) => a.n - b.n);

  const messages = new Map<string, ChatMessage>();
  for (const row of rows) {
    const { id, change } = 'call' in row ? ofOutgoing(row) : ofArrival(row);
    const next = id === undefined ? undefined : change(messages.get(id), stampOf(row, id));
    if (id !== undefined && next !== undefined) messages.set(id, next);
  }
  return [...messages.values()];
}

type Stamp = Pick<ChatMessage, 'n' | 'id' | 'at'>;
type Change = (before: ChatMessage | undefined, stamp: Stamp) => ChatMessage | undefined;
interface Step {
  readonly id: string | undefined;
  readonly change: Change;
}

const NOTHING: Step = { id: undefined, change: () => undefined };
const stampOf = ({ n, at }: { readonly n: number; readonly at: number }, id: string): Stamp => ({
  n,
  id,
  at: new Date(at).toISOString(),
});
const isFor = (call: Outgoing, person: string): boolean =>
  !('only' in call) || call.only === undefined || call.only === person;

function ofArrival({ arrival }: InboundRow): Step {
  switch (arrival.kind) {
    case 'message':
      return {
        id: arrival.message,
        change: (before, stamp) => before ?? posted(stamp, { from: arrival.user.name, text: literal(arrival.text) }),
      };
    case 'edited':
      return {
        id: arrival.message,
        change: (before, { n }) => before && { ...before, n, text: literal(arrival.text) },
      };
    case 'deleted':
      return { id: arrival.message, change: removed };
    case 'reaction':
      return { id: arrival.message, change: reacted(arrival.emoji, arrival.on) };
    case 'command':
    case 'pressed':
    case 'member':
    case 'other':
      return NOTHING;
  }
}

function ofOutgoing({ call }: OutboundRow): Step {
  switch (call.kind) {
    case 'post':
      return {
        id: sandboxMessageId(call.key),
        change: (_before, stamp) => posted(stamp, { from: BOT, text: call.text, buttons: call.buttons }),
      };
    case 'edit':
      return {
        id: call.message,
        change: (before, { n }) => before && { ...before, n, text: call.text, buttons: call.buttons, removed: false },
      };
    case 'remove':
      return { id: call.message, change: removed };
    case 'react':
      return { id: call.message, change: reacted(call.emoji, call.on) };
    case 'typing':
      return NOTHING;
  }
}

const posted = (
  stamp: Stamp,
  { from, text, buttons = [] }: Pick<ChatMessage, 'from' | 'text'> & Partial<Pick<ChatMessage, 'buttons'>>,
): ChatMessage => ({
  ...stamp,
  from,
  text,
  buttons,
  removed: false,
  reactions: [],
});
const removed: Change = (before, { n }) => before && { ...before, n, text: '', buttons: [], removed: true };
const reacted =
  (emoji: string, on: boolean): Change =>
  (before, { n }) => {
    const others = before?.reactions.filter((known) => known !== emoji) ?? [];
    return before && { ...before, n, reactions: on ? [...others, emoji] : others };
  };

const literal = (text: string | readonly Segment[]): string =>
  typeof text === 'string' ? text : text.map((segment) => ('text' in segment ? segment.text : '@')).join('');
