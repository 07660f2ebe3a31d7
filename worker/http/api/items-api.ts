// Inbox and outbox, for an operator to read and change.
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface PageRequest {
  readonly after: string | undefined;
  /** 1 to 200. */
  readonly limit: number;
  readonly state: string | undefined;
  readonly endpoint: string | undefined;
  /** False for demo scope: without texts and names of people. */
  readonly texts: boolean;
}

export interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** Cursor of the next page; absent at the end. */
  readonly next?: string;
  readonly total: number;
}

/** A resource in its state after a change. */
export type Shown = Readonly<Record<string, unknown>>;

export interface ItemStore {
  page(request: PageRequest): Promise<Page>;
  /** Throws `not_found`. The revision is sent as ETag. */
  show(
    id: string,
    texts: boolean,
  ): Promise<{ readonly item: Readonly<Record<string, unknown>>; readonly revision: string }>;
  /** Queues a dead item again; in the outbox also an unknown one. Throws `not_found`, `conflict`, `precondition_failed`. */
  replay(
    id: string,
    change: {
      readonly caller: Caller;
      readonly revision: string | undefined;
      readonly answer: 'again' | 'done' | undefined;
      readonly keep?: Keep<Shown>;
    },
  ): Promise<Shown>;
  /** Keeps an open item from being handled (outbox: sent) until it is replayed. Throws as `replay` does. */
  hold(id: string, change: ReasonedChange): Promise<Shown>;
  drop(id: string, change: ReasonedChange): Promise<Shown>;
}

export interface ReasonedChange {
  readonly caller: Caller;
  readonly revision: string | undefined;
  readonly reason: string;
  readonly keep?: Keep<Shown>;
}
