// Handles: what registering gives back, to name the thing later. Plain data with ids, so that they may be stored and sent around.
import type { TSchema } from 'typebox';
import type { Button, ConversationRef, UserRef } from './message.ts';

interface Handle<K extends string, D> {
  readonly id: string;
  readonly kind: K;
  /** Only a type: never there at run time. */
  readonly '~data'?: (data: D) => D;
}

/** What `p.action` gives: makes buttons. */
export type Action<D> = Handle<'action', D> & { button(label: string, data: D, style?: 'primary' | 'danger'): Button };
/** What `p.task` gives: for `ctx.schedule` and `ctx.cancel`. */
export type Task<D> = Handle<'task', D>;
/** What `p.dialog` gives: for `ctx.ask`. */
export type Dialog<G> = Handle<'dialog', G>;
/** What `p.counter` gives: for `ctx.count`. */
export type Counter<L> = Handle<'counter', L>;
/** What `defineEvent` gives: for `ctx.emit` and `p.subscribe`. */
export type EventType<D> = Handle<'event', D> & { readonly schema: TSchema };

/** One value of the state: a store, a key in it, and whose it is. */
export interface Cell<V> {
  readonly store: string;
  readonly key: string;
  readonly owner?: ConversationRef | UserRef;
  readonly '~value'?: V;
}

/** What `p.state` gives: a cell by itself (the empty key), and the way to its other keys and owners. */
export interface State<V> extends Cell<V> {
  /** The value under this key. */
  at(key: string): Cell<V>;
  /** Of another conversation or user: for handlers without a conversation of their own. */
  of(owner: ConversationRef | UserRef): State<V>;
}
