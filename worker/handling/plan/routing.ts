// Selects and orders the handlers of an arrival. Pure: stored data (open dialog, pressed button) is passed in.
//
//   ROUTING-1  Order: `before` listeners, then at most one claimant (a pressed button, a command, the user's open dialog). Without a claimant:
//              `normal`, then `after` listeners. Within each group: order of slots, then of registration.
//   ROUTING-2  A claimant is the last step, so its transaction ends the item. A committed claim is never routed again.
//   ROUTING-3  A pattern that exceeds its time limit for a text makes only its own listener miss the item.

import { arrivedFile } from '../../files/file-source.ts';
import type { Arrival, Message, MessageRef, Segment, UserRef } from '../../sdk/index.ts';
import { personRef, plainText } from '../../sdk/message.ts';
import { LIMIT_MS, matchAll } from '../../sdk/schema/limited-match.ts';
import type { People } from '../../sdk/text/chat-line.ts';
import { commandIn, isCancel } from '../../sdk/text/command-sign.ts';
import type { DialogRow } from '../run/run.ts';
import type {
  Capabilities,
  Capability,
  CommandCapability,
  DialogCapability,
  ListenerCapability,
} from './capabilities.ts';
import { lineBehindAlias, readCommand, type TypedCommand } from './command-line.ts';

export type Step =
  | {
      readonly kind: 'listener';
      readonly capability: ListenerCapability;
      readonly event: unknown;
      readonly groups: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'overlong'; readonly capability: ListenerCapability; readonly reason: string }
  | { readonly kind: 'command'; readonly capability: CommandCapability; readonly typed: TypedCommand }
  | { readonly kind: 'action'; readonly capability: Extract<Capability, { kind: 'action' }>; readonly data: unknown }
  | {
      readonly kind: 'answer';
      readonly capability: DialogCapability;
      readonly row: DialogRow;
      readonly text: string;
      readonly people: People;
    }
  | { readonly kind: 'gone'; readonly id: string };

export interface Stored {
  /** The user's open dialog in this conversation, unless it has expired. */
  readonly dialog: DialogRow | undefined;
  /** The action of a pressed button, or of a number in a listed menu. */
  readonly pressed: { readonly action: string; readonly data: unknown } | undefined;
}

/** Action of the buttons that a dialog makes from its choices. */
export const ANSWER_ACTION = 'svc.answer';

/** The endpoint of the arrival, and the capabilities of the serving generation. */
export interface Serving {
  readonly endpoint: string;
  readonly capabilities: Capabilities;
  readonly prefix: string;
}

export function route(arrival: Arrival, stored: Stored, serving: Serving): readonly Step[] {
  const listeners = listenersOf(arrival, serving);
  const claim = claimOf(arrival, stored, serving);
  const ranked = (order: string): readonly ListenerCapability[] =>
    listeners.filter((one) => (one.spec.order ?? 'normal') === order);
  if (claim !== undefined) return [...heard(ranked('before'), arrival, serving), claim];
  return heard([...ranked('before'), ...ranked('normal'), ...ranked('after')], arrival, serving);
}

/** True if a handler may exist although nothing is stored for this user. Patterns are not evaluated: a listener with a pattern counts. */
export function mayBeHeard(arrival: Arrival, serving: Serving): boolean {
  if (listenersOf(arrival, serving).length > 0) return true;
  return claimOf(arrival, { dialog: undefined, pressed: undefined }, serving) !== undefined;
}

/** Listeners for such an arrival. Their patterns are not evaluated yet. */
function listenersOf(arrival: Arrival, { capabilities }: Serving): readonly ListenerCapability[] {
  const text = saidIn(arrival);
  return capabilities.ofKind('on').filter((one) => one.spec.on === arrival.kind && mayMatch(one, arrival, text));
}

/** Steps of the listeners whose pattern matches. All patterns are evaluated together. */
function heard(listeners: readonly ListenerCapability[], arrival: Arrival, { endpoint }: Serving): readonly Step[] {
  const event = eventOf(endpoint, arrival);
  const patterns = listeners.flatMap(({ spec }) => (spec.text instanceof RegExp ? [spec.text] : []));
  const found = matchAll(patterns, saidIn(arrival)).values();
  return listeners.flatMap((capability): readonly Step[] => {
    const match = capability.spec.text instanceof RegExp ? found.next().value : undefined;
    if (match === null) return [];
    if (match === 'overlong') return [{ kind: 'overlong', capability, reason: reasonOf(capability) }];
    return [{ kind: 'listener', capability, event, groups: { ...match?.groups } }];
  });
}

const reasonOf = ({ id, spec }: ListenerCapability): string =>
  `${id}: its pattern ${String(spec.text)} took more than ${LIMIT_MS} ms for this text`;

/** Text for listeners. They also see edited texts; commands and dialogs do not. */
const saidIn = (arrival: Arrival): string =>
  arrival.kind === 'message' || arrival.kind === 'edited' ? plainText(arrival.text) : '';
const textOf = (arrival: Arrival): string => (arrival.kind === 'message' ? plainText(arrival.text) : '');

function claimOf(arrival: Arrival, { pressed, dialog }: Stored, serving: Serving): Step | undefined {
  const { capabilities, prefix } = serving;
  const text = textOf(arrival);
  if (pressed !== undefined && pressed.action !== ANSWER_ACTION) {
    const capability = capabilities.find(pressed.action);
    return capability?.kind === 'action'
      ? { kind: 'action', capability, data: pressed.data }
      : { kind: 'gone', id: pressed.action };
  }
  const command = commandOf(arrival, serving);
  if (command !== undefined && !(dialog !== undefined && endsDialog(text, prefix))) return command;
  if (dialog === undefined || (arrival.kind !== 'message' && pressed === undefined)) return undefined;
  const capability = capabilities.find(dialog.capability);
  if (capability?.kind !== 'dialog') return { kind: 'gone', id: dialog.capability };
  const people = mentionsIn(arrival, serving.endpoint);
  return { kind: 'answer', capability, row: dialog, text: pressed === undefined ? text : String(pressed.data), people };
}

function endsDialog(text: string, prefix: string): boolean {
  const typed = commandIn(text, prefix);
  return typed !== undefined && isCancel(typed.name) && typed.rest === '';
}

function commandOf(arrival: Arrival, { capabilities, prefix, endpoint }: Serving): Step | undefined {
  const commands = capabilities.ofKind('command');
  if (arrival.kind === 'command') {
    // A platform that knows the first word alone: `/remind list` comes as `remind` with the line `list`.
    const long = arrival.line === undefined ? undefined : longNamed(commands, `${arrival.name} ${arrival.line}`);
    if (long !== undefined) return { kind: 'command', ...long };
    const capability = commands.find(
      (one) => one.name === arrival.name || (one.spec.aliases ?? []).includes(arrival.name),
    );
    return capability && { kind: 'command', capability, typed: typedOf(arrival, endpoint) };
  }
  if (arrival.kind !== 'message') return undefined;
  const spokenTo = arrival.conversation.kind === 'private' || arrival.addressed === true;
  const text = textOf(arrival);
  // `/remind list` is the command with that alias, not /remind with an argument.
  const line = text.trim();
  const long = line.startsWith(prefix) ? longNamed(commands, line.slice(prefix.length)) : undefined;
  for (const capability of long === undefined ? commands : [long.capability]) {
    const typed = readCommand(capability, text, { prefix, spokenTo });
    if (typed !== undefined)
      return { kind: 'command', capability, typed: { ...typed, people: mentionsIn(arrival, endpoint) } };
  }
  return undefined;
}

/** The command with an alias of several words that the text begins with. */
function longNamed(
  commands: readonly CommandCapability[],
  text: string,
): { readonly capability: CommandCapability; readonly typed: TypedCommand } | undefined {
  for (const capability of commands) {
    const line = lineBehindAlias(capability, text);
    if (line !== undefined) return { capability, typed: { kind: 'line', line } };
  }
  return undefined;
}

const typedOf = ({ line, args }: Extract<Arrival, { kind: 'command' }>, endpoint: string): TypedCommand =>
  line === undefined ? { kind: 'values', values: args, endpoint } : { kind: 'line', line };

function mayMatch({ spec }: ListenerCapability, arrival: Arrival, text: string): boolean {
  if (spec.where !== undefined && arrival.conversation.kind !== spec.where) return false;
  const spokenTo =
    arrival.conversation.kind === 'private' ||
    ((arrival.kind === 'message' || arrival.kind === 'edited') && arrival.addressed === true);
  if (spec.addressed === true && !spokenTo) return false;
  return typeof spec.text !== 'string' || text === spec.text;
}

/** The event object that a listener gets. */
function eventOf(endpoint: string, arrival: Arrival): unknown {
  const ref = (id: string): MessageRef => ({ endpoint, conversation: arrival.conversation.id, id });
  switch (arrival.kind) {
    case 'message':
    case 'edited':
      return {
        ref: ref(arrival.message),
        text: plainText(arrival.text),
        segments: segmentsOf(arrival.text, endpoint),
        files: (arrival.files ?? []).map((file) => arrivedFile(endpoint, file)),
        addressed: arrival.conversation.kind === 'private' || arrival.addressed === true,
        sentAt: arrival.sentAt,
        ...(arrival.replyTo === undefined ? {} : { replyTo: ref(arrival.replyTo) }),
      } satisfies Message;
    case 'deleted':
      return { ref: ref(arrival.message) };
    case 'reaction':
      return { ref: ref(arrival.message), emoji: arrival.emoji, on: arrival.on };
    case 'member':
      return { who: personRef({ endpoint, id: arrival.who }), change: arrival.change };
    case 'other':
      return { type: arrival.type, raw: arrival.raw };
    case 'command':
    case 'pressed':
      return undefined;
  }
}

const segmentsOf = (text: string | readonly Segment[], endpoint: string): readonly Segment[] =>
  typeof text === 'string'
    ? [{ kind: 'text', text }]
    : text.map((one) =>
        one.kind === 'mention' && one.user !== 'everyone' ? { ...one, user: personOf(one.user, endpoint) } : one,
      );

const personOf = (user: UserRef, endpoint: string): UserRef =>
  personRef({ ...user, endpoint: user.endpoint === '' ? endpoint : user.endpoint });

/** Mentioned people, by their text in the plain message. */
const mentionsIn = (arrival: Arrival, endpoint: string): People =>
  new Map(
    arrival.kind !== 'message' || typeof arrival.text === 'string'
      ? []
      : arrival.text.flatMap((one) =>
          one.kind === 'mention' && one.user !== 'everyone' ? [[plainText([one]), personOf(one.user, endpoint)]] : [],
        ),
  );
