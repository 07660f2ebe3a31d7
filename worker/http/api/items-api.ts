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
  groups(request: { readonly state: LostState; readonly texts: boolean }): Promise<CauseGroups>;
  /** Replays one page of the selection. Throws `invalid_request`, `conflict`, and `inbox_full` while the inbox has no room. */
  replayMany(selection: Selection, change: BulkReplay): Promise<BulkResult>;
  dropMany(selection: Selection, change: BulkDrop): Promise<BulkResult>;
}

/** States that wait for an operator. Only sends can be `unknown`. */
export type LostState = 'dead' | 'unknown';

/** Items of one cause. */
export interface CauseGroup {
  readonly endpoint: string;
  /** Null in the outbox, and where no handler failed. */
  readonly handler: string | null;
  readonly code: string;
  readonly count: number;
  /** Times of the first and the last death. */
  readonly oldest: string | null;
  readonly newest: string | null;
  /** Id of the newest item. */
  readonly item: string | null;
}

export interface CauseGroups {
  readonly groups: readonly CauseGroup[];
  /** How many items were looked at, the newest first. */
  readonly looked: number;
  /** The host's time, for `upTo` of a change. */
  readonly asOf: string;
}

/** The items that a bulk change is about. */
export interface Selection {
  readonly state: LostState;
  readonly endpoint?: string | undefined;
  /** A handler, or the path of a plugin for all of its handlers. */
  readonly handler?: string | undefined;
  readonly code?: string | undefined;
  /** Only items that died at this time or later. */
  readonly since?: string | undefined;
  /** Only items that died at this time or earlier. */
  readonly upTo: string;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

export interface BulkResult {
  readonly done: number;
  /** Items behind this page. */
  readonly left: number;
  /** On the last page: items that a replay leaves, because they are held, their text is gone or they need an answer. */
  readonly skipped: number;
  /** Absent on the last page. */
  readonly next?: string;
}

export interface BulkReplay {
  readonly caller: Caller;
  readonly answer: 'again' | 'done' | undefined;
  readonly keep?: Keep<BulkResult>;
}

export interface BulkDrop {
  readonly caller: Caller;
  readonly reason: string;
  readonly keep?: Keep<BulkResult>;
}

export interface ReasonedChange {
  readonly caller: Caller;
  readonly revision: string | undefined;
  readonly reason: string;
  readonly keep?: Keep<Shown>;
}
