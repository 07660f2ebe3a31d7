// Handles: registering methods return them, to refer to the registered thing later. They are plain data with ids, so they may be stored.
import type { TSchema } from 'typebox';
import type { Button, ConversationRef, UserRef } from './message.ts';

interface Handle<K extends string, D> {
  readonly id: string;
  readonly kind: K;
  /** A type only; absent at run time. */
  readonly '~data'?: (data: D) => D;
}

/** Returned by `p.action`: makes buttons. */
export type Action<D> = Handle<'action', D> & { button(label: string, data: D, style?: 'primary' | 'danger'): Button };
/** Returned by `p.task`, for `ctx.schedule` and `ctx.cancel`. */
export type Task<D> = Handle<'task', D>;
/** Returned by `p.dialog`, for `ctx.ask`. */
export type Dialog<G> = Handle<'dialog', G>;
/** Returned by `p.counter`, for `ctx.count`. */
export type Counter<L> = Handle<'counter', L>;
/** Returned by `defineEvent`, for `ctx.emit` and `p.subscribe`. */
export type EventType<D> = Handle<'event', D> & { readonly schema: TSchema };

/** The address of one value of the state: a store, a key in it, and the owner. */
export interface Cell<V> {
  readonly store: string;
  readonly key: string;
  readonly owner?: ConversationRef | UserRef;
  readonly '~value'?: V;
}

/** Returned by `p.state`: a cell (with the empty key) that leads to other keys and owners. */
export interface State<V> extends Cell<V> {
  /** The cell under this key. */
  at(key: string): Cell<V>;
  /** The state of another conversation or user, for handlers without a conversation. */
  of(owner: ConversationRef | UserRef): State<V>;
}
