// The words of the Workroom: members, boards, items, blockers, and the facts that change them. Types, and what is seen of them at once.

/** A board role. `owner` may do everything on its board. */
export const ROLES = ['owner', 'worker', 'reviewer'] as const;
export type Role = (typeof ROLES)[number];

export const BLOCKER_KINDS = ['dependency', 'approval', 'capability', 'external', 'human_input'] as const;
export type BlockerKind = (typeof BLOCKER_KINDS)[number];

export interface Account {
  /** Full id of the endpoint, such as `irc~libera`. */
  readonly endpoint: string;
  /** The person's id there. Undefined after it was erased. */
  readonly user: string | undefined;
}

export interface Member {
  readonly id: string;
  readonly kind: 'person' | 'agent';
  /** The agent binding; undefined for a person. */
  readonly binding: string | undefined;
  readonly accounts: readonly Account[];
  readonly removed: boolean;
}

/** Stream `team`: all members. */
export interface Team {
  readonly version: number;
  readonly members: Readonly<Record<string, Member>>;
}

export interface BoundConversation {
  readonly endpoint: string;
  readonly conversation: string;
}

/** Stream `board/<id>`. */
export interface Board {
  readonly id: string;
  readonly version: number;
  /** Undefined after it was erased. */
  readonly name: string | undefined;
  /** False: a submitted item is done without a review. */
  readonly review: boolean;
  readonly archived: boolean;
  readonly roles: Readonly<Record<string, readonly Role[]>>;
  readonly conversations: readonly BoundConversation[];
}

export type ItemStatus = 'open' | 'active' | 'review' | 'done' | 'cancelled';
/** What is shown: an open blocker hides the status, and an open item that somebody has is `assigned`. */
export type ItemState = ItemStatus | 'blocked' | 'assigned';

export interface Blocker {
  /** `b1`, `b2`, … within its item. */
  readonly id: string;
  readonly kind: BlockerKind;
  /** Actor who reported it. */
  readonly by: string;
  /** Member who is to end it; undefined: the owners of the board. */
  readonly owner: string | undefined;
  readonly reason: string | undefined;
  /** The item that is waited for; with `dependency` alone. */
  readonly needs: string | undefined;
  /** Deadline, epoch milliseconds. */
  readonly due: number | undefined;
  readonly overdueAt: number | undefined;
  readonly since: number;
  readonly resolved: BlockerEnd | undefined;
}

export interface BlockerEnd {
  readonly at: number;
  readonly by: string;
  readonly outcome: 'resolved' | 'approved' | 'denied' | 'answered' | 'done';
  readonly text: string | undefined;
}

/** Stream `item/<id>`. */
export interface Item {
  /** `<board>-<n>`. */
  readonly id: string;
  readonly board: string;
  readonly number: number;
  readonly version: number;
  readonly title: string | undefined;
  readonly text: string | undefined;
  readonly status: ItemStatus;
  readonly creator: string;
  readonly assignee: string | undefined;
  readonly due: number | undefined;
  /** When `item.overdue` was last announced for the deadline that holds. */
  readonly overdueAt: number | undefined;
  readonly stuckAt: number | undefined;
  readonly blockers: readonly Blocker[];
  readonly comments: readonly Comment[];
  readonly createdAt: number;
  /** Last fact that a person, an agent or a plugin made; announcements do not count. */
  readonly touchedAt: number;
}

export interface Comment {
  readonly by: string;
  readonly at: number;
  readonly text: string | undefined;
}

/** Who commands. Operators and full tokens are owners of every board, and persons. */
export interface Actor {
  /** `member:<id>`, `token:<name>`, `plugin:<slot>`, `job:<id>` or `host`. */
  readonly id: string;
  readonly member: string | undefined;
  readonly isOperator: boolean;
}
export const HOST: Actor = { id: 'host', member: undefined, isOperator: false };

export type FactKind =
  | 'member.added'
  | 'member.linked'
  | 'member.unlinked'
  | 'member.removed'
  | 'board.created'
  | 'board.changed'
  | 'board.archived'
  | 'role.granted'
  | 'role.revoked'
  | 'conversation.bound'
  | 'conversation.unbound'
  | 'item.created'
  | 'item.edited'
  | 'item.commented'
  | 'item.assigned'
  | 'item.started'
  | 'item.submitted'
  | 'item.accepted'
  | 'item.rejected'
  | 'item.cancelled'
  | 'item.reopened'
  | 'item.due_set'
  | 'item.overdue'
  | 'item.stuck'
  | 'blocker.added'
  | 'blocker.resolved'
  | 'stream.released'
  | 'text.erased';

export type FactValue = string | number | boolean | null | readonly string[] | readonly number[];

/** One fact of a stream, before it has a place in the journal. */
export interface Fact {
  readonly stream: string;
  /** Consecutive in its stream, from 1. */
  readonly version: number;
  readonly kind: FactKind;
  readonly at: number;
  readonly actor: string;
  readonly data: Readonly<Record<string, FactValue>>;
  /** Words of people. They are stored beside `data`, so that they can be erased. Undefined: erased. */
  readonly texts: Readonly<Record<string, string | undefined>>;
}

/** By id. */
export type Entries<T> = Readonly<Record<string, T>>;

/** Without a prototype it is a table from its start: literals with ids as keys cost a hidden class for each id. */
export const noEntries = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

/** A copy with one more. */
export function withEntry<T>(entries: Entries<T>, id: string, value: T): Entries<T> {
  const next = noEntries<T>();
  for (const key of Object.keys(entries)) next[key] = entries[key] as T;
  next[id] = value;
  return next;
}

/** What a decision may look at. It holds the team, all boards, and the items that the command concerns. */
export interface View {
  readonly team: Team;
  readonly boards: Entries<Board>;
  readonly items: Entries<Item>;
  /** Highest item number given on each board. */
  readonly lastItems: Entries<number>;
  /** Streams that take no command until an operator releases them. */
  readonly quarantined: readonly string[];
}

export const REFUSALS = [
  'wrong_state',
  'item_blocked',
  'not_allowed',
  'dependency_cycle',
  'unknown_member',
  'unknown_item',
  'unknown_board',
  'unknown_blocker',
  'already_exists',
  'stream_quarantined',
  'agents_missing',
] as const;
export type RefusalCode = (typeof REFUSALS)[number];

export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  /** One sentence for the person who commanded. */
  readonly reason: string;
}
export type Decision = { readonly kind: 'decided'; readonly facts: readonly Fact[] } | Refusal;

export const TEAM = 'team';
export const boardStream = (id: string): string => `board/${id}`;
export const itemStream = (id: string): string => `item/${id}`;

export const isEnded = ({ status }: Pick<Item, 'status'>): boolean => status === 'done' || status === 'cancelled';
export const openBlockers = ({ blockers }: Pick<Item, 'blockers'>): readonly Blocker[] =>
  blockers.filter(({ resolved }) => resolved === undefined);

export function stateOf(item: Pick<Item, 'status' | 'blockers' | 'assignee'>): ItemState {
  if (isEnded(item)) return item.status;
  if (openBlockers(item).length > 0) return 'blocked';
  return item.status === 'open' && item.assignee !== undefined ? 'assigned' : item.status;
}
