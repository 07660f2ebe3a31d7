// The board of a Workroom, as plugins see it: `ctx.workroom` of a plugin that names it in `uses`, and the events to subscribe to.
import { defineEvent } from './event-type.ts';
import type { ConversationRef } from './message.ts';
import { t } from './schema/schema.ts';

export type WorkRole = 'owner' | 'worker' | 'reviewer';
export type WorkState = 'open' | 'assigned' | 'active' | 'blocked' | 'review' | 'done' | 'cancelled';
export type WorkBlockerKind = 'dependency' | 'approval' | 'capability' | 'external' | 'human_input';

export interface WorkBlocker {
  readonly id: string;
  readonly kind: WorkBlockerKind;
  /** Member who is to end it; undefined: the owners of the board. */
  readonly owner: string | undefined;
  readonly reason: string | undefined;
  /** The item that is waited for. */
  readonly needs: string | undefined;
  /** Deadline, epoch milliseconds. */
  readonly due: number | undefined;
  readonly since: number;
}

export interface WorkItem {
  /** `<board>-<n>`. */
  readonly id: string;
  readonly board: string;
  /** Rises by each change. */
  readonly version: number;
  /** Undefined after it was erased. */
  readonly title: string | undefined;
  readonly text: string | undefined;
  readonly state: WorkState;
  readonly creator: string;
  readonly assignee: string | undefined;
  readonly due: number | undefined;
  /** The open ones. */
  readonly blockers: readonly WorkBlocker[];
  readonly comments: readonly { readonly by: string; readonly at: number; readonly text: string | undefined }[];
}

export interface WorkBoard {
  readonly id: string;
  readonly name: string | undefined;
  readonly roles: Readonly<Record<string, readonly WorkRole[]>>;
  readonly conversations: readonly { readonly endpoint: string; readonly conversation: string }[];
}

export interface WorkMember {
  readonly id: string;
  readonly kind: 'person' | 'agent';
}

export interface WorkFilter {
  readonly board?: string;
  /** Left out: items that have not ended. */
  readonly state?: WorkState;
  readonly assignee?: string;
}

/** `{ kind: 'take', item: 'web-7' }`; the guide to plugins lists the kinds with their keys. */
export interface WorkCommand {
  readonly kind: string;
  readonly [key: string]: unknown;
}

export type WorkOutcome =
  | { readonly kind: 'accepted'; readonly item: string | undefined; readonly version: number }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string };

/**
 * Commands and looks at the board. A command is an effect: later calls of the run see it, and it is committed with the run, or not at all. It counts
 * as made by the member who wrote, else by the plugin with a worker's rights.
 */
export interface Workroom {
  do(command: WorkCommand): Promise<WorkOutcome>;
  item(id: string): Promise<WorkItem | undefined>;
  /** The newest first, at most 50. */
  list(filter?: WorkFilter): Promise<readonly WorkItem[]>;
  /** The board that a conversation is bound to. Left out: the conversation of this run. */
  board(at?: ConversationRef): Promise<WorkBoard | undefined>;
  boards(): Promise<readonly WorkBoard[]>;
  /** The member whose account wrote. */
  me(): Promise<WorkMember | undefined>;
  /** Links the account that wrote to the member for whom the code was made. A code serves once, for an hour. */
  join(code: string): Promise<WorkOutcome>;
}

/** For `p.subscribe`. `change` is the kind of the journal's event, such as `item.assigned` or `blocker.added`. */
export const workItemChanged = defineEvent(
  'workroom.item_changed',
  t.object({
    item: t.string(),
    board: t.string(),
    version: t.integer(),
    change: t.string(),
    status: t.string(),
    state: t.string(),
    blockers: t.integer(),
    blocker: t.optional(t.string()),
    assignee: t.optional(t.string()),
  }),
);
