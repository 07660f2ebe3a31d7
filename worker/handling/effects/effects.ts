// Turns collected effects into the statements of one transaction: sends, state, tasks, events.

import { wellFormed } from '../../../shared/log/well-formed.ts';
import { messageOf } from '../../../shared/svc-error.ts';
import type { Statement, UnitAnswer } from '../../database/unit.ts';
import type { NewEvent } from '../../events/event-types.ts';
import type { NewOutboxRow } from '../../outbox/outbox-store.ts';
import { holdMessage } from '../../outbox/sent-message.ts';
import { putDue, removeDue, takeDue } from '../../timers/due-store.ts';
import { writeCell } from '../handling-store.ts';
import type { Effect } from '../run/run.ts';
import { SendStatements, type SendsOf } from './send-statements.ts';

export type EffectsOf = SendsOf;

export interface Decided {
  readonly statements: readonly Statement[];
  readonly events: readonly NewEvent[];
  /** Number of effects that send something. */
  readonly sends: number;
  readonly rows: readonly NewOutboxRow[];
  /** Parts that cannot be sent. */
  readonly dead: readonly NewOutboxRow[];
  /** Earliest due time of the scheduled tasks. */
  readonly dueAt: number | undefined;
  readonly counts: readonly Extract<Effect, { kind: 'count' }>[];
  /** Endpoints without reactions, once for each dropped reaction. */
  readonly droppedReactions: readonly string[];
}

export function decideEffects(of: EffectsOf, effects: readonly Effect[]): Decided {
  const send = new SendStatements(of);
  const statements: Statement[] = heldMessages(of, effects);
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
        const made = send.from(effect);
        statements.push(...made);
        if (made.length > 0) sends += 1;
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
            isWait: effect.isWait,
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
        statements.push(effect.row === undefined ? removeDue(effect.id) : takeDue(effect.row));
        events.push(eventOf(of, { type: 'task.cancelled', data: { task: effect.id, capability: effect.capability } }));
        break;
      case 'emit':
        events.push(eventOf(of, { type: effect.type, data: wellFormed(effect.data) }));
        break;
      case 'count':
        counts.push(effect);
        break;
    }
  }
  const { rows, dead, droppedReactions } = send;
  return { statements, events, sends, rows, dead, dueAt, counts, droppedReactions };
}

/** Like `decideEffects`, or the error if the content cannot be rendered: `can.text.render` is adapter code. */
export function writtenEffects(of: EffectsOf, effects: readonly Effect[]): Decided | Error {
  try {
    return decideEffects(of, effects);
  } catch (error) {
    return new Error(`what it says cannot be written for its platform: ${messageOf(error)}`, { cause: error });
  }
}

/** True if state or a waiting task that the run had read has changed since. The handler then runs again. */
export const hasMoved = (answer: UnitAnswer): boolean =>
  answer.kind === 'refused' && (answer.guard === 'cell' || answer.guard === 'message' || answer.guard === 'due');

/** Guards for edited and removed messages: the effects hold only while the parts of each message are those that were read. */
function heldMessages({ sent = new Map() }: EffectsOf, effects: readonly Effect[]): Statement[] {
  const changed = new Set(
    effects.flatMap((effect) =>
      (effect.kind === 'edit' || effect.kind === 'remove') && 'sent' in effect.message ? [effect.message.sent] : [],
    ),
  );
  return [...sent].flatMap(([key, message]) => (changed.has(key) ? [holdMessage(key, message)] : []));
}

type Bare = NewEvent extends infer E ? (E extends NewEvent ? Pick<E, 'type' | 'data'> : never) : never;
/** Not `{ ...event, … }`: on Node 20 each spread creates a new hidden class, so every reader of the event misses its inline cache. */
export const eventOf = (
  { core, generation, correlationId, itemId, actor }: EffectsOf,
  { type, data }: Bare,
): NewEvent =>
  ({
    type,
    data,
    at: core.clock.now(),
    runtimeId: core.runtimeId,
    generation: generation.number,
    correlationId: correlationId ?? undefined,
    causationId: itemId ?? undefined,
    actor: actor ?? undefined,
  }) as NewEvent;
