// An event type that plugins emit and subscribe to. The host keeps the events in its event history.
import type { Static, TSchema } from 'typebox';
import type { EventType } from './handle.ts';

/** `type` is dotted and in the past tense: `plugin.polls.closed`. `ctx.emit` checks the data. */
export function defineEvent<S extends TSchema>(type: string, data: S): EventType<Static<S>> {
  return { id: type, kind: 'event', schema: data };
}
