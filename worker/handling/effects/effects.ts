// From collected effects to the statements of the unit that commits them: sends (send-statements.ts), state, tasks, events.
import { messageOf } from '../../../shared/svc-error.ts';
import type { Statement, UnitAnswer } from '../../database/unit.ts';
import type { NewEvent } from '../../events/event-types.ts';
import type { NewOutboxRow } from '../../outbox/outbox-store.ts';
import { holdMessage } from '../../outbox/sent-message.ts';
import { putDue, removeDue } from '../../timers/due-store.ts';
import { writeCell } from '../handling-store.ts';
import type { Effect } from '../run/run.ts';
import { SendStatements, type SendsOf } from './send-statements.ts';

export type EffectsOf = SendsOf;

export interface Decided {
  readonly statements: readonly Statement[];
  readonly events: readonly NewEvent[];
  /** Effects of which something goes out. */
  readonly sends: number;
  readonly rows: readonly NewOutboxRow[];
  /** Earliest moment at which a scheduled task is due. */
  readonly dueAt: number | undefined;
  readonly counts: readonly Extract<Effect, { kind: 'count' }>[];
  /** Endpoints without reactions, for each that was not made. */
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
  return { statements, events, sends, rows: send.rows, dueAt, counts, droppedReactions: send.droppedReactions };
}

/** The same, or why it cannot be written for its platform: `can.text.render` is code of an adapter. */
export function writtenEffects(of: EffectsOf, effects: readonly Effect[]): Decided | Error {
  try {
    return decideEffects(of, effects);
  } catch (error) {
    return new Error(`what it says cannot be written for its platform: ${messageOf(error)}`, { cause: error });
  }
}

/** True when the unit was refused because what its run had read has changed since: the run is made again. */
export const hasMoved = (answer: UnitAnswer): boolean =>
  answer.kind === 'refused' && (answer.guard === 'cell' || answer.guard === 'message');

/** Which parts a changed message has is what these effects are made of: they hold only as long as that does. */
function heldMessages({ sent = new Map() }: EffectsOf, effects: readonly Effect[]): Statement[] {
  const changed = new Set(
    effects.flatMap((effect) =>
      (effect.kind === 'edit' || effect.kind === 'remove') && 'sent' in effect.message ? [effect.message.sent] : [],
    ),
  );
  return [...sent].flatMap(([key, message]) => (changed.has(key) ? [holdMessage(key, message)] : []));
}

type Bare = NewEvent extends infer E ? (E extends NewEvent ? Pick<E, 'type' | 'data'> : never) : never;
/** Not `{ ...event, … }`: Node 20 makes a new hidden class at each, and every reader of the event then misses. */
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
