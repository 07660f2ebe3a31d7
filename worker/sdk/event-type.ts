// A type of event that a plugin emits and others subscribe to, kept in the event history of the host.
import type { Static, TSchema } from 'typebox';
import type { EventType } from './handle.ts';

/** `type` is dotted and past tense: `plugin.polls.closed`. Data is checked when it is emitted. */
export function defineEvent<S extends TSchema>(type: string, data: S): EventType<Static<S>> {
  return { id: type, kind: 'event', schema: data };
}
