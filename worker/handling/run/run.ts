// Effects that one run of a handler has collected. Effects are data; none is visible before the commit.

import type { PluginEventType } from '../../events/event-types.ts';
import type { Content, ConversationRef, MessageRef } from '../../sdk/index.ts';

export type Effect =
  | {
      readonly kind: 'send';
      readonly key: string;
      readonly to: ConversationRef;
      readonly content: Content;
      readonly isPrivate: boolean;
    }
  | { readonly kind: 'edit'; readonly key: string; readonly message: MessageRef; readonly content: Content }
  | { readonly kind: 'remove'; readonly key: string; readonly message: MessageRef }
  | {
      readonly kind: 'react';
      readonly key: string;
      readonly message: MessageRef;
      readonly emoji: string;
      readonly on: boolean;
    }
  | { readonly kind: 'cell'; readonly cell: CellId; readonly value: string | undefined; readonly expect: CellGuard }
  | {
      readonly kind: 'schedule';
      readonly id: string;
      readonly capability: string;
      readonly lane: string;
      readonly data: string;
      readonly at: number;
      /** True for a delay from now, false for a time of day. */
      readonly isWait: boolean;
    }
  | {
      readonly kind: 'cancel';
      readonly id: string;
      readonly capability: string;
      /** The row that the run has read. The effect holds only while it is there. */
      readonly row: TaskRow | undefined;
    }
  | { readonly kind: 'emit'; readonly type: PluginEventType; readonly data: unknown }
  | { readonly kind: 'count'; readonly counter: string; readonly labels: Readonly<Record<string, string>> };

/** A waiting task in the due table. */
export interface TaskRow {
  readonly id: string;
  readonly at: number;
  readonly data: string;
}

export interface CellId {
  readonly store: string;
  readonly owner: string;
  readonly key: string;
}
/** The revision that was read (0: absent), or no guard. */
export type CellGuard = { readonly kind: 'revision'; readonly revision: number } | { readonly kind: 'any' };

export interface DialogRow {
  readonly capability: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly skipped: readonly string[];
  readonly asked: string;
  readonly expiresAt: number;
}

/** A dialog to begin, with the answers already known. */
export interface Ask {
  readonly dialog: string;
  readonly given: Readonly<Record<string, unknown>>;
}

const NOTHING_FOUND: ReadonlyMap<string, number> = new Map();

export class Run {
  /** Actual revisions of cells for which the previous run expected another one; 0: absent. */
  readonly found: ReadonlyMap<string, number>;
  readonly effects: Effect[] = [];
  readonly read = new Map<string, number>();
  /** As JSON, so later changes to the handler's object have no effect. Undefined: the cell was unset. */
  readonly written = new Map<string, string | undefined>();
  /** Waiting tasks that the run has read and not changed, by id. */
  readonly tasks = new Map<string, TaskRow>();
  readonly steps = new Set<string>();
  readonly asks: Ask[] = [];
  /** A row opens or continues a dialog, null ends the open one, undefined leaves it. */
  dialog: DialogRow | null | undefined;
  stopped = false;
  closed = false;
  #keys = 0;

  constructor(found: ReadonlyMap<string, number> = NOTHING_FOUND) {
    this.found = found;
  }

  /** Records a revision that the handler has seen. Its decision may depend on the first read, so a later read does not change the guard. */
  sees(cell: CellId, revision: number): void {
    const key = cellKey(cell);
    if (!this.read.has(key)) this.read.set(key, revision);
  }

  nextKey(): number {
    this.#keys += 1;
    return this.#keys;
  }
}

/** JSON keeps the parts apart, because owners and keys may hold any character. */
export const cellKey = ({ store, owner, key }: CellId): string => JSON.stringify([store, owner, key]);
