// What a fact makes of its stream. Pure: the catalog is the fold of these over the journal, in order of version.
import type { Account, Blocker, Board, Fact, FactValue, Item, Member, Role, Team } from './model.ts';

export const NO_TEAM: Team = { version: 0, members: {} };

export function evolveTeam(team: Team, fact: Fact): Team {
  const id = optional(fact, 'member') ?? '';
  const before = team.members[id];
  const put = (member: Member): Team => ({ version: fact.version, members: { ...team.members, [id]: member } });
  switch (fact.kind) {
    case 'member.added':
      return put({
        id,
        kind: fact.data['binding'] === null ? 'person' : 'agent',
        binding: optional(fact, 'binding'),
        accounts: [],
        removed: false,
      });
    case 'member.linked':
      return put({ ...known(before, fact), accounts: [...known(before, fact).accounts, accountOf(fact)] });
    case 'member.unlinked': {
      const index = Number(fact.data['index']);
      return put({ ...known(before, fact), accounts: known(before, fact).accounts.filter((_, at) => at !== index) });
    }
    case 'member.removed':
      return put({ ...known(before, fact), accounts: [], removed: true });
    case 'stream.released':
    case 'text.erased':
      return { ...team, version: fact.version };
    default:
      throw foreign(fact);
  }
}

export function evolveBoard(board: Board | undefined, fact: Fact): Board {
  if (fact.kind === 'board.created')
    return {
      id: text(fact, 'board'),
      version: fact.version,
      name: fact.texts['name'],
      review: fact.data['review'] === true,
      archived: false,
      roles: {},
      conversations: [],
    };
  const next = { ...known(board, fact), version: fact.version };
  const member = optional(fact, 'member') ?? '';
  const roles = next.roles[member] ?? [];
  const place = { endpoint: optional(fact, 'endpoint') ?? '', conversation: optional(fact, 'conversation') ?? '' };
  switch (fact.kind) {
    case 'board.changed':
      return {
        ...next,
        ...('name' in fact.data ? { name: fact.texts['name'] } : {}),
        ...('review' in fact.data ? { review: fact.data['review'] === true } : {}),
      };
    case 'stream.released':
    case 'text.erased':
      return next;
    case 'board.archived':
      return { ...next, archived: true };
    case 'role.granted':
      return { ...next, roles: { ...next.roles, [member]: [...roles, text(fact, 'role') as Role] } };
    case 'role.revoked':
      return { ...next, roles: { ...next.roles, [member]: roles.filter((role) => role !== fact.data['role']) } };
    case 'conversation.bound':
      return { ...next, conversations: [...next.conversations, place] };
    case 'conversation.unbound':
      return {
        ...next,
        conversations: next.conversations.filter(
          ({ endpoint, conversation }) => endpoint !== place.endpoint || conversation !== place.conversation,
        ),
      };
    default:
      throw foreign(fact);
  }
}

export function evolveItem(item: Item | undefined, fact: Fact): Item {
  if (fact.kind === 'item.created')
    return {
      id: text(fact, 'item'),
      board: text(fact, 'board'),
      number: Number(fact.data['number']),
      version: fact.version,
      title: fact.texts['title'],
      text: fact.texts['text'],
      status: 'open',
      creator: fact.actor,
      assignee: undefined,
      due: undefined,
      overdueAt: undefined,
      stuckAt: undefined,
      blockers: [],
      comments: [],
      createdAt: fact.at,
      touchedAt: fact.at,
    };
  return changeItem({ ...known(item, fact) }, fact);
}

export type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** Changes an item in place, and gives it back. A proof folds every event of a journal, where a copy for each would cost as much as all else. */
export function changeItem(next: Changing<Item>, fact: Fact): Item {
  const { kind, at, data, texts } = fact;
  next.version = fact.version;
  if (kind === 'item.overdue') {
    const id = optional(fact, 'blocker');
    if (id === undefined) next.overdueAt = at;
    else next.blockers = withBlocker(next, id, (blocker) => ({ ...blocker, overdueAt: at }));
    return next;
  }
  if (kind === 'stream.released' || kind === 'text.erased') return next;
  if (kind === 'item.stuck') {
    next.stuckAt = at;
    return next;
  }
  next.touchedAt = at;
  next.stuckAt = undefined;
  switch (kind) {
    case 'item.edited':
      if ('title' in data) next.title = texts['title'];
      if ('text' in data) next.text = texts['text'];
      return next;
    case 'item.commented':
      return saying(next, fact);
    case 'item.assigned':
      next.assignee = optional(fact, 'member');
      if (next.assignee === undefined) next.status = 'open';
      return next;
    case 'item.started':
      next.status = 'active';
      return next;
    case 'item.submitted':
      next.status = data['done'] === true ? 'done' : 'review';
      return saying(next, fact);
    case 'item.accepted':
      next.status = 'done';
      return next;
    case 'item.rejected':
      next.status = 'active';
      return saying(next, fact);
    case 'item.cancelled':
      next.status = 'cancelled';
      return saying(next, fact);
    case 'item.reopened':
      next.status = 'open';
      next.assignee = undefined;
      return next;
    case 'item.due_set':
      next.due = instant(fact, 'due');
      next.overdueAt = undefined;
      return next;
    case 'blocker.added':
      next.blockers = [...next.blockers, blockerOf(fact)];
      return next;
    case 'blocker.resolved':
      next.blockers = withBlocker(next, text(fact, 'blocker'), (blocker) => ({
        ...blocker,
        resolved: {
          at,
          by: fact.actor,
          outcome: text(fact, 'outcome') as NonNullable<Blocker['resolved']>['outcome'],
          text: texts['text'],
        },
      }));
      return next;
    default:
      throw foreign(fact);
  }
}

/** Words that go with a change of status are shown among the comments. */
function saying(item: Changing<Item>, { actor, at, data, texts }: Fact): Item {
  if ('text' in data) item.comments = [...item.comments, { by: actor, at, text: texts['text'] }];
  return item;
}

const withBlocker = (item: Item, id: string, change: (blocker: Blocker) => Blocker): readonly Blocker[] =>
  item.blockers.map((blocker) => (blocker.id === id ? change(blocker) : blocker));

const blockerOf = (fact: Fact): Blocker => ({
  id: text(fact, 'blocker'),
  kind: text(fact, 'blockerKind') as Blocker['kind'],
  by: fact.actor,
  owner: optional(fact, 'owner'),
  reason: fact.texts['reason'],
  needs: optional(fact, 'needs'),
  due: instant(fact, 'due'),
  overdueAt: undefined,
  since: fact.at,
  resolved: undefined,
});

const accountOf = (fact: Fact): Account => ({ endpoint: text(fact, 'endpoint'), user: fact.texts['user'] });

function text({ data, kind }: Fact, key: string): string {
  const value: FactValue | undefined = data[key];
  if (typeof value !== 'string') throw new Error(`${kind}: ${key} is no text`);
  return value;
}
const optional = ({ data }: Fact, key: string): string | undefined => {
  const value = data[key];
  return typeof value === 'string' ? value : undefined;
};
const instant = ({ data }: Fact, key: string): number | undefined => {
  const value = data[key];
  return typeof value === 'number' ? value : undefined;
};
function known<T>(before: T | undefined, fact: Fact): T {
  if (before === undefined) throw foreign(fact);
  return before;
}
const foreign = ({ kind, stream, version }: Fact): Error =>
  new Error(`${kind} does not belong at version ${version} of ${stream}`);
