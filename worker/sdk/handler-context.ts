// The context of a handler: reads, `once`, and effects. It offers nothing else.
//
//   CONTEXT-1  Effects are collected and committed in one transaction with "item handled": all or none, invisible before.
//   CONTEXT-2  Attempts of one item share stored `once` results, `item.id` and `key()`, and nothing else.
//   CONTEXT-3  The context throws inside `once` (`inside_once`) and after the handler has ended (`ctx_closed`).
import type { Cell, Counter, Dialog, EventType, State, Task } from './handle.ts';
import type { Body, Conversation, ConversationRef, FileRef, MessageRef, User, UserRef } from './message.ts';
import type { Language } from './text/texts.ts';

type Line = (fields: object | string, message?: string) => void;
/** The host's log. Each line carries the ids of slot and item. */
export interface Logger {
  readonly debug: Line;
  readonly info: Line;
  readonly warn: Line;
  readonly error: Line;
}

/** The type of a value after a round trip through JSON: `once` returns this. */
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
/** JSON writes null for an undefined entry of a list. */
type JsonEntry<T> = T extends undefined ? null : Json<T>;

/** Options of `once`. */
export interface OnceOptions {
  /**
   * For an attempt that died between the call and its stored result. 'again' (default) repeats the call with the same key. 'hold' never calls
   * twice: the item becomes a dead letter that names the step, for a person to decide. With 'hold' a call that throws has the same result, because
   * its outcome is unknown. `retryLater`, `userError` and `giveUp` declare that the call had no effect.
   */
  readonly unsure?: 'again' | 'hold';
  /** Milliseconds until the `signal` of the call aborts. Default: the handler's remaining time. */
  readonly timeoutMs?: number;
}

/** Selects entries of a state for `ctx.list`. */
export interface Page {
  readonly prefix?: string;
  /** The last key of the previous page. */
  readonly after?: string;
  /** Default 100, at most 1,000. */
  readonly limit?: number;
}

/** When a task is due, and its key. Left out: due now. */
export interface When {
  /** Epoch milliseconds. A time in the past means now. */
  readonly at?: number;
  readonly afterMs?: number;
  /** At most one task waits under a key: the newest replaces the older one. `ctx.cancel` takes the key. */
  readonly key?: string;
}

/** Selects waiting tasks for `ctx.scheduled`. */
export interface ScheduledPage {
  /** Only keys that begin with it. */
  readonly prefix?: string;
  /** Default 100, at most 1,000. */
  readonly limit?: number;
}

/** A task that waits. */
export interface Scheduled<D> {
  readonly key: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly data: D;
}

/** The context of every handler. */
export interface Ctx {
  readonly log: Logger;
  /** Aborts at the time limit of the handler and when its generation is retired. */
  readonly signal: AbortSignal;
  now(): number;
  /** Of this conversation; in a handler without one, of the host (`host.language`). */
  readonly language: Language;
  /** The language of another conversation. */
  languageOf(conversation: ConversationRef): Language;
  /** `schedule.timezone`: the zone in which people of this host read and write times. */
  readonly timezone: string;
  /** `id` and `receivedAt` are the same on each attempt. */
  readonly item: { readonly id: string; readonly receivedAt: number; readonly attempt: number };
  /** A key for ids and idempotency keys: the same on each attempt of this item, handler and step. */
  key(step: string): string;
  /**
   * Makes an external call and stores its result (JSON, up to 64 KiB) before it resolves. A later attempt gets the stored result. A thrown error is
   * not stored: return expected failures as values. A step name may be used once in a run.
   */
  once<R>(
    step: string,
    call: (o: { readonly key: string; readonly signal: AbortSignal }) => R | Promise<R>,
    options?: OnceOptions,
  ): Promise<Json<R>>;
  get<V>(cell: Cell<V>): Promise<V | undefined>;
  /** Entries in order of their keys, each read as by `get`. */
  list<V>(state: State<V>, page?: Page): Promise<readonly (readonly [key: string, value: V])[]>;
  /**
   * Waiting tasks that were scheduled with a key, the next one first. `ctx.cancel` of one of them holds only while it waits: if it has become due or
   * was cancelled meanwhile, the handler runs again.
   */
  scheduled<D>(task: Task<D>, page?: ScheduledPage): Promise<readonly Scheduled<D>[]>;
  /** The bytes of a saved file, or of a file that came with a message, fetched from its platform. */
  readFile(file: FileRef): Promise<Uint8Array<ArrayBuffer>>;
  /** Saves a file by its content: saving the same bytes twice makes one file. */
  saveFile(name: string, mime: string, bytes: Uint8Array): Promise<FileRef>;

  // The methods below are effects: committed together with the item, or not at all.

  /**
   * Sets a value, guarded by the revision that this run has read first. For a cell that was not read, `expect` is required and is the guard. A
   * failed guard runs the handler again on fresh state. Throws an error with code `cell_is`, naming cell and key, if this run, or the run before
   * it, has read a revision other than `expect`.
   */
  set<V>(cell: Cell<V>, value: NoInfer<V>, expect?: 'absent' | 'any' | number): void;
  unset(cell: Cell<unknown>): void;
  /** Sends a message. To a person it goes in private, if the platform has private conversations. */
  send(to: ConversationRef | UserRef, body: Body): MessageRef;
  edit(message: MessageRef, body: Body): void;
  remove(message: MessageRef): void;
  react(message: MessageRef, emoji: string, on?: boolean): void;
  emit<D>(event: EventType<D>, data: NoInfer<D>): void;
  cancel<D>(task: Task<D>, key: string): void;
  count<L>(counter: Counter<L>, ...labels: keyof L extends never ? [] : [labels: NoInfer<L>]): void;
  schedule<D>(task: Task<D>, data: NoInfer<D>, when?: When): void;
}

/** The context of a handler of an event in a conversation. */
export interface ChatCtx extends Ctx {
  readonly user: User;
  readonly conversation: Conversation;
  /** Named groups of the pattern in `Match.text`. */
  readonly groups: Readonly<Record<string, string>>;
  /** Shows that the bot is typing: sent at once, never retried. */
  typing(): void;
  /** Sends a message to the item's conversation, in its thread. */
  reply(body: Body): MessageRef;
  /**
   * The message that this one replies to, if the platform tells. A message of the bot is `{ sent }`, the reference that its sending returned, while
   * it is among the newest 1,000 of the conversation.
   */
  repliedTo(): Promise<MessageRef | undefined>;
  /** Starts a dialog that asks for the answers missing in `given`. It ends an open dialog of the same person in the same conversation. */
  ask<G>(dialog: Dialog<G>, given?: NoInfer<G>): void;
  /** Claims the item: no later handler sees it. */
  stop(): void;
}
