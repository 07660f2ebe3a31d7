// Handles: what registering gives back, to name the thing later. Plain data with ids, so that they may be stored and sent around.
import type { TSchema } from 'typebox';
import type { Button, ConversationRef, UserRef } from './message.ts';

interface Handle<K extends string, D> {
  readonly id: string;
  readonly kind: K;
  /** Only a type: never there at run time. */
  readonly '~data'?: (data: D) => D;
}

export type Action<D> = Handle<'action', D> & { button(label: string, data: D, style?: 'primary' | 'danger'): Button };
export type Task<D> = Handle<'task', D>;
export type Dialog<G> = Handle<'dialog', G>;
export type Counter<L> = Handle<'counter', L>;
export type EventType<D> = Handle<'event', D> & { readonly schema: TSchema };

/** One value of the state: a store, a key in it, and whose it is. */
export interface Cell<V> {
  readonly store: string;
  readonly key: string;
  readonly owner?: ConversationRef | UserRef;
  readonly '~value'?: V;
}

export interface State<V> extends Cell<V> {
  /** The value under this key. */
  at(key: string): Cell<V>;
  /** Of another conversation or user: for handlers without a conversation of their own. */
  of(owner: ConversationRef | UserRef): State<V>;
}
