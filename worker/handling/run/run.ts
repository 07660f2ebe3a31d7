// What one run of one handler has collected so far. Effects are data; nothing of them is visible before the unit commits.

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
      /** So long from now, and not at a time of day. */
      readonly isWait: boolean;
    }
  | { readonly kind: 'cancel'; readonly id: string; readonly capability: string }
  | { readonly kind: 'emit'; readonly type: PluginEventType; readonly data: unknown }
  | { readonly kind: 'count'; readonly counter: string; readonly labels: Readonly<Record<string, string>> };

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

/** A dialog to begin, with the answers that are known. */
export interface Ask {
  readonly dialog: string;
  readonly given: Readonly<Record<string, unknown>>;
}

const NOTHING_FOUND: ReadonlyMap<string, number> = new Map();

export class Run {
  /** Revisions of cells that the run before this one was wrong about; 0: absent. */
  readonly found: ReadonlyMap<string, number>;
  readonly effects: Effect[] = [];
  readonly read = new Map<string, number>();
  /** As JSON, undefined where it was unset: what a handler does to the value that it gave is not stored. */
  readonly written = new Map<string, string | undefined>();
  readonly steps = new Set<string>();
  readonly asks: Ask[] = [];
  /** null ends the open dialog, a row opens one or goes on in it, undefined leaves it. */
  dialog: DialogRow | null | undefined;
  stopped = false;
  closed = false;
  #keys = 0;

  constructor(found: ReadonlyMap<string, number> = NOTHING_FOUND) {
    this.found = found;
  }

  /** What the handler is shown of a cell. What it decides may depend on its first look: a later one does not change the guard. */
  sees(cell: CellId, revision: number): void {
    const key = cellKey(cell);
    if (!this.read.has(key)) this.read.set(key, revision);
  }

  nextKey(): number {
    this.#keys += 1;
    return this.#keys;
  }
}

/** Owners and keys may hold any character. */
export const cellKey = ({ store, owner, key }: CellId): string => JSON.stringify([store, owner, key]);
