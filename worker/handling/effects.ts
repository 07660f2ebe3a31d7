// From collected effects to the statements of the unit that commits them: sends as outbox rows (degraded, rendered and split for
// the platform they go to), state, tasks, events.
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '../../shared/identifiers.ts';
import type { Core } from '../core.ts';
import type { Statement } from '../database/unit.ts';
import type { NewEvent } from '../events/event-types.ts';
import { type ComposedPart, compose, type StoredContent, type Where } from '../outbox/compose.ts';
import { enqueueSend, readSendByKey, type StoredCall } from '../outbox/outbox-store.ts';
import { putDue, removeDue } from '../schedule/due-store.ts';
import type { Can, Content, ConversationRef, Segment } from '../sdk/index.ts';
import type { Cause } from './cause.ts';
import type { GenerationView } from './generation-view.ts';
import { keepButtons, type StoredButton, writeCell } from './handling-store.ts';
import type { Effect } from './run.ts';

export interface EffectsOf {
  readonly core: Core;
  readonly generation: GenerationView;
  readonly cause: Cause;
  /** The inbox item that caused it; null for a route. */
  readonly itemId: string | null;
  readonly correlationId: string | null;
  readonly actor: string | null;
  /** Where our own messages of earlier runs lie, by key (`readPlaces`). */
  readonly places?: ReadonlyMap<string, ConversationRef>;
}

export interface Decided {
  readonly statements: readonly Statement[];
  readonly events: readonly NewEvent[];
  readonly sends: number;
  /** Earliest moment at which a scheduled task is due. */
  readonly dueAt: number | undefined;
  readonly counts: readonly Extract<Effect, { kind: 'count' }>[];
}

const PLAIN: Can = { text: { limit: 4_000, unit: 'utf16', render: 'plain' } };

/** Where the messages lie that these effects change and that an earlier run has sent. */
export async function readPlaces(
  core: Core,
  effects: readonly Effect[],
): Promise<ReadonlyMap<string, ConversationRef>> {
  const places = new Map<string, ConversationRef>();
  for (const effect of effects) {
    const key = 'message' in effect && 'sent' in effect.message ? effect.message.sent : undefined;
    if (key === undefined || sentHere(effects).has(key)) continue;
    const row = await readSendByKey(core.reader, key);
    if (row !== undefined) places.set(key, { endpoint: row.endpoint, id: row.conversation });
  }
  return places;
}

const sentHere = (effects: readonly Effect[]): ReadonlyMap<string, ConversationRef> =>
  new Map(effects.flatMap((effect) => (effect.kind === 'send' ? [[effect.key, effect.to] as const] : [])));

export function decideEffects(given: EffectsOf, effects: readonly Effect[]): Decided {
  const of: EffectsOf = { ...given, places: new Map([...(given.places ?? []), ...sentHere(effects)]) };
  const statements: Statement[] = [];
  const events: NewEvent[] = [];
  const counts: Extract<Effect, { kind: 'count' }>[] = [];
  let sends = 0;
  let dueAt: number | undefined;
  for (const effect of effects) {
    switch (effect.kind) {
      case 'send':
      case 'edit':
      case 'remove':
      case 'react': {
        const rows = sendStatements(of, effect);
        statements.push(...rows);
        sends += 1;
        break;
      }
      case 'cell':
        statements.push(writeCell(effect.cell, effect.value, effect.expect));
        break;
      case 'schedule':
        statements.push(
          putDue({
            id: effect.id,
            kind: 'task',
            at: effect.at,
            capability: effect.capability,
            lane: effect.lane,
            data: effect.data,
          }),
        );
        events.push(
          eventOf(of, {
            type: 'task.scheduled',
            data: { task: effect.id, capability: effect.capability, at: new Date(effect.at).toISOString() },
          }),
        );
        dueAt = Math.min(dueAt ?? effect.at, effect.at);
        break;
      case 'cancel':
        statements.push(removeDue(effect.id));
        events.push(eventOf(of, { type: 'task.cancelled', data: { task: effect.id, capability: effect.capability } }));
        break;
      case 'emit':
        events.push(eventOf(of, { type: effect.type, data: effect.data }));
        break;
      case 'count':
        counts.push(effect);
        break;
    }
  }
  return { statements, events, sends, dueAt, counts };
}

type Bare = NewEvent extends infer E ? (E extends NewEvent ? Pick<E, 'type' | 'data'> : never) : never;
export const eventOf = ({ core, generation, correlationId, itemId, actor }: EffectsOf, event: Bare): NewEvent => ({
  ...event,
  at: core.clock.now(),
  runtimeId: core.runtimeId,
  generation: generation.number,
  correlationId: correlationId ?? undefined,
  causationId: itemId ?? undefined,
  actor: actor ?? undefined,
});

type SendEffect = Extract<Effect, { kind: 'send' | 'edit' | 'remove' | 'react' }>;

function sendStatements(of: EffectsOf, effect: SendEffect): readonly Statement[] {
  const place = placeOf(of, effect);
  const can = of.generation.can(place.endpoint) ?? PLAIN;
  switch (effect.kind) {
    case 'send':
    case 'edit':
      return contentStatements(of, effect, { place, can });
    case 'remove':
      return can.remove === true
        ? [row(of, { key: effect.key, place, call: { kind: 'remove', message: effect.message } })]
        : [];
    case 'react':
      return can.react === true
        ? [
            row(of, {
              key: effect.key,
              place,
              call: { kind: 'react', message: effect.message, emoji: effect.emoji, on: effect.on },
            }),
          ]
        : [];
  }
}

/** Where a send goes. A message that is ours lies in the conversation that it was sent to; the cause's own where that is forgotten. */
function placeOf({ cause, places }: EffectsOf, effect: SendEffect): ConversationRef {
  if (effect.kind === 'send') return effect.to;
  if ('endpoint' in effect.message) return { endpoint: effect.message.endpoint, id: effect.message.conversation };
  return places?.get(effect.message.sent) ?? cause.chat?.conversation ?? { endpoint: '', id: '' };
}

/** Names of people, for platforms that cannot show who is meant. */
function namesOf({ cause }: EffectsOf, { replyTo, only }: Content): Pick<Where, 'replyName' | 'onlyName'> {
  const { user, message } = cause.chat ?? {};
  if (user === undefined) return {};
  const isReply = replyTo !== undefined && 'id' in replyTo && message !== undefined && replyTo.id === message;
  return { ...(isReply ? { replyName: user.name } : {}), ...(only?.id === user.id ? { onlyName: user.name } : {}) };
}

interface Target {
  readonly place: ConversationRef;
  readonly can: Can;
}

function contentStatements(
  of: EffectsOf,
  effect: Extract<Effect, { kind: 'send' | 'edit' }>,
  { place, can }: Target,
): readonly Statement[] {
  const made = (effect.content.buttons ?? []).map((button) => ({
    button,
    token: randomBytes(9).toString('base64url'),
  }));
  const stored: StoredContent = {
    segments: segmentsOf(effect.content),
    buttons: made.map(({ button, token }) => ({ label: button.label, token })),
    files: effect.content.files ?? [],
    ...(effect.content.replyTo === undefined ? {} : { replyTo: effect.content.replyTo }),
    ...(effect.content.thread === undefined ? {} : { thread: effect.content.thread }),
    ...(effect.content.only === undefined ? {} : { only: effect.content.only }),
  };
  const isPrivate = effect.kind === 'send' && effect.isPrivate;
  const parts = compose(stored, can, {
    private: isPrivate,
    kind: effect.kind === 'edit' ? 'edit' : 'post',
    ...namesOf(of, effect.content),
  });
  const statements = parts.map((part, index) => partStatement(of, { effect, part, place, index }));
  const menu = parts.flatMap((part) => (part.kind === 'refused' ? [] : (part.menu ?? [])));
  const buttons: StoredButton[] = made.map(({ button, token }) => {
    const number = menu.indexOf(token);
    return {
      token,
      action: button.action,
      data: JSON.stringify(button.data ?? null),
      label: button.label,
      menu: number < 0 ? null : number + 1,
    };
  });
  return [
    ...statements,
    ...keepButtons(buttons, { endpoint: place.endpoint, conversation: place.id, at: of.core.clock.now() }),
  ];
}

function partStatement(
  of: EffectsOf,
  {
    effect,
    part,
    place,
    index,
  }: { effect: Extract<Effect, { kind: 'send' | 'edit' }>; part: ComposedPart; place: ConversationRef; index: number },
): Statement {
  const key = index === 0 ? effect.key : `${effect.key}.${index}`;
  const unsure = effect.content.unsure;
  if (part.kind === 'refused') {
    of.core.log.warn({ key, reason: part.reason }, 'part of a send was refused');
    return row(of, { key, place, call: { kind: 'post', text: '', buttons: [], files: [] }, refused: part.reason });
  }
  const call: StoredCall = {
    kind: part.kind,
    text: part.text,
    buttons: part.buttons,
    files: part.files,
    ...(effect.kind === 'edit' && part.kind === 'edit' ? { message: effect.message } : {}),
    ...(part.replyTo === undefined ? {} : { replyTo: part.replyTo }),
    ...(part.thread === undefined ? {} : { threadOf: part.thread }),
    ...(place.thread === undefined ? {} : { thread: place.thread }),
    ...(part.only === undefined ? {} : { only: part.only.id }),
  };
  return row(of, {
    key,
    place: part.conversation === undefined ? place : { ...place, id: part.conversation },
    call,
    ...(unsure === undefined ? {} : { unsure }),
  });
}

interface RowOf {
  readonly key: string;
  readonly place: ConversationRef;
  readonly call: StoredCall;
  readonly unsure?: 'again' | 'hold';
  readonly refused?: string;
}

function row(of: EffectsOf, { key, place, call, unsure, refused }: RowOf): Statement {
  const now = of.core.clock.now();
  return enqueueSend({
    id: uuidv7(now),
    key,
    endpoint: place.endpoint,
    conversation: place.id,
    call,
    unsure: unsure ?? 'again',
    itemId: of.itemId,
    createdAt: now,
    actor: of.actor,
    correlationId: of.correlationId,
    refused: refused ?? null,
  });
}

function segmentsOf({ text }: Content): readonly Segment[] {
  if (text === undefined) return [];
  return typeof text === 'string' ? [{ kind: 'text', text }] : text.segments;
}
