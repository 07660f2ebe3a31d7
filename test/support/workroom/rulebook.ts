// Who may do what on a board, and from which status: read from the events of a journal alone, and written down a second time, apart from `decide`.
import type { WorkroomEventsTable } from '../../../worker/database/tables.ts';

type Status = 'open' | 'active' | 'review' | 'done' | 'cancelled';

interface Blocker {
  readonly kind: unknown;
  readonly by: string;
  readonly owner: unknown;
}
interface Item {
  readonly creator: string;
  status: Status;
  assignee: unknown;
  readonly blockers: Map<unknown, Blocker>;
}

/** Status before and after. */
const STEPS: Readonly<Record<string, readonly [before: readonly Status[], after: Status | undefined]>> = {
  'item.assigned': [['open', 'active'], undefined],
  'item.started': [['open'], 'active'],
  'item.submitted': [['active'], 'review'],
  'item.accepted': [['review'], 'done'],
  'item.rejected': [['review'], 'active'],
  'item.cancelled': [['open', 'active', 'review'], 'cancelled'],
  'item.reopened': [['done', 'cancelled'], 'open'],
  'item.commented': [['open', 'active', 'review', 'done', 'cancelled'], undefined],
  'blocker.added': [['open', 'active', 'review'], undefined],
  'blocker.resolved': [['open', 'active', 'review', 'done', 'cancelled'], undefined],
};
const HELD = new Set(['item.started', 'item.submitted', 'item.accepted']);

/** One board; its members are people. */
export class Rulebook {
  readonly #operator: string;
  readonly #roles = new Map<unknown, Set<unknown>>();
  readonly #items = new Map<string, Item>();
  readonly #versions = new Map<string, number>();

  constructor(operator: string) {
    this.#operator = operator;
  }

  /** What is wrong with the next event; undefined if it was right. */
  faultOf(event: WorkroomEventsTable): string | undefined {
    const { stream, version, kind, actor } = event;
    if (version !== (this.#versions.get(stream) ?? 0) + 1) return `version ${version} of ${stream}`;
    this.#versions.set(stream, version);
    const data = JSON.parse(event.data) as Readonly<Record<string, unknown>>;
    if (!stream.startsWith('item/')) return this.#ofTeam(kind, actor, data);
    if (kind === 'item.created') {
      this.#items.set(stream, { creator: actor, status: 'open', assignee: undefined, blockers: new Map() });
      return this.#rolesOf(actor).size > 0 ? undefined : `${actor} has no role`;
    }
    const item = this.#items.get(stream);
    const [before, after] = STEPS[kind] ?? [[], undefined];
    if (item === undefined || !before.includes(item.status)) return `${kind} from ${item?.status}`;
    if (HELD.has(kind) && item.blockers.size > 0) return `${kind} while it is blocked`;
    if (!this.#may(item, { kind, actor, data })) return `${actor} may not: ${kind}`;
    item.status = after ?? item.status;
    if (kind === 'item.reopened') item.assignee = undefined;
    if (kind === 'item.assigned') {
      item.assignee = data['member'] ?? undefined;
      if (item.assignee === undefined) item.status = 'open';
    }
    if (kind === 'blocker.resolved') item.blockers.delete(data['blocker']);
    if (kind === 'blocker.added')
      item.blockers.set(data['blocker'], { kind: data['blockerKind'], by: actor, owner: data['owner'] });
    return undefined;
  }

  #ofTeam(kind: string, actor: string, { member, role }: Readonly<Record<string, unknown>>): string | undefined {
    if (kind === 'role.granted') this.#roles.set(member, this.#ofMember(member).add(role));
    if (kind === 'role.revoked') this.#ofMember(member).delete(role);
    return actor === this.#operator ? undefined : `${actor} may not: ${kind}`;
  }

  #ofMember(member: unknown): Set<unknown> {
    return this.#roles.get(member) ?? new Set();
  }

  #rolesOf(actor: string): ReadonlySet<unknown> {
    return actor === this.#operator ? new Set(['owner']) : this.#ofMember(memberOf(actor));
  }

  #may(
    item: Item,
    {
      kind,
      actor,
      data,
    }: { readonly kind: string; readonly actor: string; readonly data: Readonly<Record<string, unknown>> },
  ): boolean {
    const roles = this.#rolesOf(actor);
    const isOwner = roles.has('owner');
    const isAssignee = item.assignee !== undefined && item.assignee === memberOf(actor);
    switch (kind) {
      case 'item.assigned': {
        const member = data['member'];
        if (isOwner) return true;
        return member === null ? isAssignee : roles.has('worker') && member === memberOf(actor);
      }
      case 'item.started':
      case 'item.submitted':
        return isAssignee;
      case 'item.accepted':
      case 'item.rejected':
        return (isOwner || roles.has('reviewer')) && !isAssignee;
      case 'item.cancelled':
      case 'item.reopened':
        return isOwner || item.creator === actor;
      case 'blocker.resolved': {
        const { kind: what, by, owner } = item.blockers.get(data['blocker']) ?? {};
        if (actor === 'host') return what === 'dependency' && data['outcome'] === 'done';
        if (what === 'approval') return (isOwner || roles.has('reviewer')) && by !== actor;
        return what !== undefined && (isOwner || owner === memberOf(actor));
      }
      default:
        return roles.size > 0;
    }
  }
}

const memberOf = (actor: string): string => actor.slice('member:'.length);
