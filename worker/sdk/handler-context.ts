// What a handler gets: reads, `once`, and effects. What is neither is not on it.
//
//   X1  Effects are collected and committed with "item handled" as one unit: all of them or none, invisible before.
//   X2  A later attempt of the same item sees nothing of an earlier one but stored `once` results and the same `item.id` and `key()`.
//   X3  Inside `once`, and after the handler has ended, the context throws: `inside_once`, `ctx_closed`.
import type { Cell, Counter, Dialog, EventType, State, Task } from './handle.ts';
import type { Body, Conversation, ConversationRef, FileRef, MessageRef, User, UserRef } from './message.ts';

type Line = (fields: object | string, message?: string) => void;
/** The log of the host, with the ids of slot and item in each line. */
export interface Logger {
  readonly debug: Line;
  readonly info: Line;
  readonly warn: Line;
  readonly error: Line;
}

/** What JSON keeps of a value, and so what `once` gives back. */
export type Json<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined | void
    ? T
    : T extends { toJSON(): infer J }
      ? J
      : T extends readonly unknown[]
        ? { [K in keyof T]: JsonEntry<T[K]> }
        : T extends object
          ? { [K in keyof T as T[K] extends (...a: never[]) => unknown ? never : K]: Json<T[K]> }
          : never;
/** In a list JSON keeps the place of what it drops. */
type JsonEntry<T> = T extends undefined ? null : Json<T>;

/** How a call of `once` is made. */
export interface OnceOptions {
  /**
   * An earlier attempt died between call and result. 'again' (default) calls with the same key; 'hold' never calls twice: the
   * item becomes a dead letter that names the step, for a person to decide. So it does when the call throws, since nobody knows what the
   * outside took; `retryLater`, `userError` and `giveUp` say that it took nothing.
   */
  readonly unsure?: 'again' | 'hold';
  /** Then the `signal` of the call aborts. Default: what the handler has left. */
  readonly timeoutMs?: number;
}

/** Which entries of a state `ctx.list` gives. */
export interface Page {
  readonly prefix?: string;
  /** The last key of the page before. */
  readonly after?: string;
  /** Default 100, at most 1,000. */
  readonly limit?: number;
}

/** When a task is due, and under which key it waits. Left out: now. */
export interface When {
  /** Epoch milliseconds; in the past means now. */
  readonly at?: number;
  readonly afterMs?: number;
  /** One waits under it: the newest wins, and `cancel` names it. */
  readonly key?: string;
}

/** The context of every handler, with a conversation or without. */
export interface Ctx {
  readonly log: Logger;
  /** Aborts at the time limit of the handler and when its generation is retired. */
  readonly signal: AbortSignal;
  now(): number;
  /** `id` and `receivedAt` are the same on each attempt. */
  readonly item: { readonly id: string; readonly receivedAt: number; readonly attempt: number };
  /** The same on each attempt of this item, handler and step: for ids and idempotency keys. */
  key(step: string): string;
  /**
   * Calls the outside and stores the result (JSON, up to 64 KiB) before going on; a later attempt gets what was stored. A thrown
   * error is not kept: return expected failures as values. A step name may be used once in a run.
   */
  once<R>(
    step: string,
    call: (o: { readonly key: string; readonly signal: AbortSignal }) => R | Promise<R>,
    options?: OnceOptions,
  ): Promise<Json<R>>;
  get<V>(cell: Cell<V>): Promise<V | undefined>;
  /** Entries in order of their keys, read as by `get`. */
  list<V>(state: State<V>, page?: Page): Promise<readonly (readonly [key: string, value: V])[]>;
  /** One that was saved, or one that came with a message: from its platform. */
  readFile(file: FileRef): Promise<Uint8Array<ArrayBuffer>>;
  /** By content: saving twice is one file. */
  saveFile(name: string, mime: string, bytes: Uint8Array): Promise<FileRef>;

  // From here on, effects (X1).

  /**
   * Guarded by the revision that this run has read first; unread: say what you expect. A failed guard runs the handler again, on fresh
   * state. Throws an error with the code `cell_is`, naming cell and key, where it is not as you expect: read before, or found so by the
   * run before this one.
   */
  set<V>(cell: Cell<V>, value: NoInfer<V>, expect?: 'absent' | 'any' | number): void;
  unset(cell: Cell<unknown>): void;
  /** To a person: in private, where the platform has that. */
  send(to: ConversationRef | UserRef, body: Body): MessageRef;
  edit(message: MessageRef, body: Body): void;
  remove(message: MessageRef): void;
  react(message: MessageRef, emoji: string, on?: boolean): void;
  emit<D>(event: EventType<D>, data: NoInfer<D>): void;
  cancel<D>(task: Task<D>, key: string): void;
  count<L>(counter: Counter<L>, ...labels: keyof L extends never ? [] : [labels: NoInfer<L>]): void;
  schedule<D>(task: Task<D>, data: NoInfer<D>, when?: When): void;
}

/** The context of what happens in a conversation. */
export interface ChatCtx extends Ctx {
  readonly user: User;
  readonly conversation: Conversation;
  /** Named groups of `Match.text`. */
  readonly groups: Readonly<Record<string, string>>;
  /** A hint, sent at once and never repeated. */
  typing(): void;
  /** Into the thread of the item. */
  reply(body: Body): MessageRef;
  /** Asks for what is missing in `given`. A new dialog of the same person in the same place ends the open one. */
  ask<G>(dialog: Dialog<G>, given?: NoInfer<G>): void;
  /** No later handler sees the item. */
  stop(): void;
}
