// Inbox and outbox, as an operator looks at them and acts on them.
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface PageRequest {
  readonly after: string | undefined;
  /** 1 to 200. */
  readonly limit: number;
  readonly state: string | undefined;
  readonly endpoint: string | undefined;
  /** False for demo: no texts, no names of people. */
  readonly texts: boolean;
}

export interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** Cursor of the next page; absent at the end. */
  readonly next?: string;
  readonly total: number;
}

/** A thing as it is shown after a change of it. */
export type Shown = Readonly<Record<string, unknown>>;

/** A store of items that an operator looks at and acts on: inbox and outbox. */
export interface ItemStore {
  page(request: PageRequest): Promise<Page>;
  /** Throws `not_found`. The revision goes out as ETag. */
  show(
    id: string,
    texts: boolean,
  ): Promise<{ readonly item: Readonly<Record<string, unknown>>; readonly revision: string }>;
  /** Puts a dead (outbox: dead or unknown) item back in line. Throws `not_found`, `conflict`, `precondition_failed`. */
  replay(
    id: string,
    change: {
      readonly caller: Caller;
      readonly revision: string | undefined;
      readonly answer: 'again' | 'done' | undefined;
      readonly keep?: Keep<Shown>;
    },
  ): Promise<Shown>;
  /** An open item is not handled (outbox: not sent) until it is replayed. Throws as `replay` does. */
  hold(id: string, change: ReasonedChange): Promise<Shown>;
  drop(id: string, change: ReasonedChange): Promise<Shown>;
}

export interface ReasonedChange {
  readonly caller: Caller;
  readonly revision: string | undefined;
  readonly reason: string;
  readonly keep?: Keep<Shown>;
}
