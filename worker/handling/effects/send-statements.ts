// Turns sends, edits, removals and reactions into outbox rows, degraded, rendered and split for the target platform. One object a transaction: it
// remembers earlier sends, so that a later effect can change them.
//
//   SEND-STATEMENTS-1  An edit changes every part of a message. Extra parts are posted, and parts left over are removed. If the platform cannot
//                      remove, such a part is edited to "(removed)".
//   SEND-STATEMENTS-2  A part that cannot be sent is stored as a dead letter with its reason. The rest is sent.
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '../../../shared/identifiers.ts';
import type { Core } from '../../core/core.ts';
import type { Statement } from '../../database/unit.ts';
import { compose, type SendPart, type Where } from '../../outbox/compose.ts';
import { laneOf, type NewOutboxRow, prepareSend, type StoredCall } from '../../outbox/outbox-store.ts';
import { addedPartKey, filesPartKey, partKey, removedPartKey, type SentMessage } from '../../outbox/sent-message.ts';
import type { Can, Content, ConversationRef, MessageRef } from '../../sdk/index.ts';
import { keepButtons } from '../handling-store.ts';
import type { GenerationView } from '../plan/generation-view.ts';
import type { Cause } from '../run/cause.ts';
import type { Effect } from '../run/run.ts';
import { storedButtons, storedOf } from './stored-content.ts';

export interface SendsOf {
  readonly core: Core;
  readonly generation: GenerationView;
  readonly cause: Cause;
  /** The inbox item that caused it; null for a route. */
  readonly itemId: string | null;
  readonly correlationId: string | null;
  readonly actor: string | null;
  /** Our messages of earlier runs that these effects change, by key. */
  readonly sent?: ReadonlyMap<string, SentMessage>;
  /** True if a send may start as soon as it is stored: its lane is free and the platform drops repeats. */
  readonly mayStart?: (endpoint: string, conversation: string) => boolean;
}

export type SendEffect = Extract<Effect, { kind: 'send' | 'edit' | 'remove' | 'react' }>;
type ContentEffect = Extract<Effect, { kind: 'send' | 'edit' }>;

const PLAIN: Can = { text: { limit: 4_000, unit: 'utf16', render: 'plain' } };
const REMOVED = '(removed)';

/** Label for accounts that are not in the configuration. Names made up by a plugin would make the number of metric series unbounded. */
const UNKNOWN = 'unknown';

interface Target {
  readonly place: ConversationRef;
  readonly can: Can;
  /** The message to change, if it is ours and still stored. */
  readonly message: SentMessage | undefined;
}

export class SendStatements {
  readonly #of: SendsOf;
  readonly #sent: Map<string, SentMessage>;
  readonly #started = new Set<string>();
  /** Stored rows, without dead letters. */
  readonly rows: NewOutboxRow[] = [];
  /** Stored rows of parts that cannot be sent. */
  readonly dead: NewOutboxRow[] = [];
  /** Accounts whose platform has no reactions, once for each dropped reaction. */
  readonly droppedReactions: string[] = [];

  constructor(of: SendsOf) {
    this.#of = of;
    this.#sent = new Map(of.sent);
  }

  from(effect: SendEffect): readonly Statement[] {
    const target = this.#targetOf(effect);
    switch (effect.kind) {
      case 'send':
      case 'edit':
        return this.#content(effect, target);
      case 'remove':
        return target.can.remove === true ? this.#remove(effect, target) : [];
      case 'react':
        return this.#react(effect, target);
    }
  }

  #react(effect: Extract<Effect, { kind: 'react' }>, { place, can }: Target): readonly Statement[] {
    const { key, message, emoji, on } = effect;
    if (can.react === true) return [this.#row({ key, place, call: { kind: 'react', message, emoji, on } })];
    this.droppedReactions.push(this.#of.generation.can(place.endpoint) === undefined ? UNKNOWN : place.endpoint);
    return [];
  }

  #targetOf(effect: SendEffect): Target {
    const message =
      effect.kind !== 'send' && 'sent' in effect.message ? this.#sent.get(effect.message.sent) : undefined;
    const place = message?.place ?? placeOf(this.#of, effect);
    return { place, can: this.#of.generation.can(place.endpoint) ?? PLAIN, message };
  }

  #content(effect: ContentEffect, target: Target): readonly Statement[] {
    const { place, can, message } = target;
    const made = (effect.content.buttons ?? []).map((button) => ({
      button,
      token: randomBytes(9).toString('base64url'),
    }));
    const buttons = made.map(({ button: { label, style }, token }) => ({
      label,
      token,
      ...(style === undefined ? {} : { style }),
    }));
    const parts = compose(storedOf(effect.content, buttons), can, {
      fileUrl: (file) => this.#of.generation.fileUrl(place.endpoint, file),
      ...audienceOf(this.#of, effect, place),
      ...(effect.kind === 'edit' ? { kind: 'edit', parts: message?.parts.length ?? 1 } : {}),
      ...namesOf(this.#of, effect.content),
    });
    const sent = parts.filter((part) => part.kind !== 'refused');
    if (sent.some(({ isCut }) => isCut === true))
      this.#of.core.log.warn({ key: effect.key, parts: sent.length }, 'a message was too long for its platform: cut');
    const behind = sent.findIndex(({ isBehind }) => isBehind === true);
    const keys = sent.map((part, index) =>
      part.isBehind === true ? filesPartKey(effect.key, index - behind) : keyOf(effect, part, index),
    );
    const statements = [
      ...sent.map((part, index) => this.#part(effect, { part, target, key: keys[index] ?? '', index })),
      ...parts.flatMap((part, index) =>
        part.kind === 'refused' ? [this.#refused(effect, part.reason, { place, index })] : [],
      ),
      ...(effect.kind === 'edit' && sent[0]?.kind === 'edit' ? this.#leftOver(effect, target, sent.length) : []),
    ];
    this.#remember(effect, { target, sent, keys });
    const conversation = sent.at(-1)?.conversation ?? place.id;
    const stored = storedButtons(
      made,
      sent.flatMap((part) => part.menu ?? []),
    );
    return [
      ...statements,
      ...keepButtons(stored, { endpoint: place.endpoint, conversation, at: this.#of.core.clock.now() }),
    ];
  }

  /** Remembers the message for later effects of this transaction. */
  #remember(
    effect: ContentEffect,
    { target, sent, keys }: { target: Target; sent: readonly SendPart[]; keys: readonly string[] },
  ): void {
    const [first] = sent;
    if (first === undefined) return;
    const keysOf = (isBehind: boolean): readonly string[] =>
      keys.filter((_, index) => (sent[index]?.isBehind === true) === isBehind);
    if (effect.kind === 'send')
      this.#sent.set(effect.key, {
        place: placeOfPart(first, target.place),
        parts: keysOf(false),
        files: keysOf(true),
        rows: 0,
      });
    else if (first.kind === 'edit' && 'sent' in effect.message && target.message !== undefined) {
      const kept = target.message.parts.slice(0, target.can.remove === true ? sent.length : undefined);
      this.#sent.set(effect.message.sent, { ...target.message, parts: [...kept, ...keys.slice(kept.length)] });
    }
  }

  #part(
    effect: ContentEffect,
    { part, target, key, index }: { part: SendPart; target: Target; key: string; index: number },
  ): Statement {
    const { place, message } = target;
    const { unsure } = effect.content;
    const isMoved = part.conversation !== undefined;
    const call: StoredCall = {
      kind: part.kind,
      text: part.text,
      buttons: part.buttons,
      files: part.files,
      ...(effect.kind === 'edit' && part.kind === 'edit' ? { message: partRef(effect.message, message, index) } : {}),
      ...(part.replyTo === undefined ? {} : { replyTo: part.replyTo }),
      ...(part.thread === undefined ? {} : { threadOf: part.thread }),
      ...(place.thread === undefined || isMoved ? {} : { thread: place.thread }),
      ...(part.only === undefined ? {} : { only: part.only.id }),
    };
    return this.#row({ key, place: placeOfPart(part, place), call, ...(unsure === undefined ? {} : { unsure }) });
  }

  #refused(
    effect: ContentEffect,
    reason: string,
    { place, index }: { place: ConversationRef; index: number },
  ): Statement {
    const key = index === 0 ? effect.key : `${effect.key}!${index}`;
    return this.#row({ key, place, call: { kind: 'post', text: '', buttons: [], files: [] }, refused: reason });
  }

  /** Removes parts that an edit leaves over. If the platform cannot remove, they are edited to "(removed)". */
  #leftOver(effect: Extract<Effect, { kind: 'edit' }>, { place, can, message }: Target, count: number): Statement[] {
    if (!('sent' in effect.message) || message === undefined) return [];
    const { sent } = effect.message;
    return message.parts.slice(count).map((part, at) => {
      const index = count + at;
      if (can.remove === true)
        return this.#row({
          key: removedPartKey(sent, index, effect.key),
          place,
          call: { kind: 'remove', message: { sent: part } },
        });
      const call = { kind: 'edit', message: { sent: part }, text: REMOVED, buttons: [], files: [] } as const;
      return this.#row({ key: partKey(effect.key, index), place, call });
    });
  }

  /** Removes every part of the message. */
  #remove(effect: Extract<Effect, { kind: 'remove' }>, { place, message }: Target): Statement[] {
    const { parts = [], files = [] } = message ?? {};
    const own = 'sent' in effect.message ? effect.message.sent : '';
    const remove = (ref: MessageRef, key: string): Statement =>
      this.#row({ key, place, call: { kind: 'remove', message: ref } });
    const refs = message === undefined ? [effect.message] : parts.map((sent): MessageRef => ({ sent }));
    return [
      ...refs.map((ref, index) => remove(ref, index === 0 ? effect.key : removedPartKey(own, index, effect.key))),
      ...files.map((sent, index) => remove({ sent }, `${filesPartKey(own, index)}-${effect.key}`)),
    ];
  }

  #row({ key, place, call, unsure, refused }: RowOf): Statement {
    const { core, itemId, actor, correlationId } = this.#of;
    const now = core.clock.now();
    const { row, insert } = prepareSend({
      id: uuidv7(now),
      key,
      endpoint: place.endpoint,
      conversation: place.id,
      call,
      unsure: unsure ?? 'again',
      itemId,
      createdAt: now,
      actor,
      correlationId,
      refused: refused ?? null,
      isClaimed: this.#starts(place),
    });
    (row.state === 'dead' ? this.dead : this.rows).push(row);
    return insert;
  }

  /** True for the first send of a conversation; the others follow it. */
  #starts({ endpoint, id }: ConversationRef): boolean {
    const lane = laneOf(endpoint, id);
    if (this.#started.has(lane) || this.#of.mayStart?.(endpoint, id) !== true) return false;
    this.#started.add(lane);
    return true;
  }
}

interface RowOf {
  readonly key: string;
  readonly place: ConversationRef;
  readonly call: StoredCall;
  readonly unsure?: 'again' | 'hold';
  readonly refused?: string;
}

/** A part that an edit adds gets a key of the edited message. */
function keyOf(effect: ContentEffect, part: SendPart, index: number): string {
  const isAdded = effect.kind === 'edit' && index > 0 && part.kind === 'post' && part.isMore === true;
  return isAdded && 'sent' in effect.message
    ? addedPartKey(effect.message.sent, index, effect.key)
    : partKey(effect.key, index);
}

const partRef = (edited: MessageRef, message: SentMessage | undefined, index: number): MessageRef => {
  const sent = message?.parts[index];
  return sent === undefined ? edited : { sent };
};

/** Destination of an effect. A message of ours that is no longer stored is assumed to be in the cause's conversation. */
function placeOf({ cause }: SendsOf, effect: SendEffect): ConversationRef {
  if (effect.kind === 'send') return effect.to;
  if ('endpoint' in effect.message) return { endpoint: effect.message.endpoint, id: effect.message.conversation };
  return cause.chat?.conversation ?? { endpoint: '', id: '' };
}

const placeOfPart = ({ conversation }: SendPart, place: ConversationRef): ConversationRef =>
  conversation === undefined ? place : { endpoint: place.endpoint, id: conversation };

/** Names of people, for platforms that cannot show replies or `only`. */
function namesOf({ cause }: SendsOf, { replyTo, only }: Content): Pick<Where, 'replyName' | 'onlyName'> {
  const { user, message } = cause.chat ?? {};
  if (user === undefined) return {};
  const isReply = replyTo !== undefined && 'id' in replyTo && message !== undefined && replyTo.id === message;
  return { ...(isReply ? { replyName: user.name } : {}), ...(only?.id === user.id ? { onlyName: user.name } : {}) };
}

/** Audience of the conversation, and the private conversation of `only`. An edited message stays where it is. */
function audienceOf(
  { generation }: SendsOf,
  effect: ContentEffect,
  place: ConversationRef,
): Pick<Where, 'private' | 'direct'> {
  const { only } = effect.content;
  const direct = only === undefined ? undefined : generation.direct(place.endpoint, only.id);
  const isPrivate = (effect.kind === 'send' && effect.isPrivate) || direct === place.id;
  return { private: isPrivate, ...(direct === undefined || effect.kind === 'edit' ? {} : { direct }) };
}
