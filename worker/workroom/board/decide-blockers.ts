// Blockers: why an item cannot go on, who is to end it, and how it ends. Pure.
import type { CommandOf } from './commands.ts';
import { refused, said } from './deciding.ts';
import type { ItemDeciding } from './drafts.ts';
import {
  type Blocker,
  type BlockerEnd,
  type BlockerKind,
  type Decision,
  isEnded,
  itemStream,
  openBlockers,
  type View,
} from './model.ts';
import { hasRole, isPerson } from './rights.ts';

type BlockerCommand = CommandOf<'block' | 'unblock' | 'approve' | 'deny' | 'answer'>;

export const decideBlocker = (command: BlockerCommand, deciding: ItemDeciding): Decision =>
  command.kind === 'block' ? decideBlock(command, deciding) : decideEnd(command, deciding);

function decideBlock(command: CommandOf<'block'>, { item, view, board, drafts }: ItemDeciding): Decision {
  if (isEnded(item)) return refused('wrong_state', `${item.id} is ${item.status}`);
  const { blocker: kind, needs, by, until, reason } = command;
  if (kind === 'capability') return refused('not_allowed', 'the host reports a missing capability itself');
  if ((kind === 'dependency') !== (needs !== undefined))
    return refused('wrong_state', 'a dependency, and nothing else, names the item that it needs');
  if (by !== undefined && (view.team.members[by]?.removed ?? true))
    return refused('unknown_member', `there is no member ${by}`);
  if (by !== undefined && (board.roles[by] ?? []).length === 0)
    return refused('unknown_member', `${by} has no role on board ${board.id}`);
  if (needs !== undefined) {
    const needed = view.items[needs];
    if (needed === undefined) return refused('unknown_item', `there is no item ${needs}`);
    if (needed.status === 'done') return refused('wrong_state', `${needs} is done already`);
    if (waitsFor(view, needs, item.id))
      return refused('dependency_cycle', `${needs} waits for ${item.id} itself, directly or through others`);
  }
  const data = {
    blocker: `b${item.blockers.length + 1}`,
    blockerKind: kind,
    owner: by ?? null,
    needs: needs ?? null,
    due: until ?? null,
  };
  return drafts.add(itemStream(item.id), 'blocker.added', { data, texts: { reason } }).decided();
}

/** True where `from` is `to`, or waits for it through open dependencies. */
export function waitsFor(view: View, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true;
    const item = view.items[id];
    if (seen.has(id) || item === undefined) continue;
    seen.add(id);
    open.push(...openBlockers(item).flatMap(({ needs }) => needs ?? []));
  }
  return false;
}

type EndCommand = CommandOf<'unblock' | 'approve' | 'deny' | 'answer'>;

const ENDS: Readonly<
  Record<EndCommand['kind'], { readonly kinds: readonly BlockerKind[]; readonly outcome: BlockerEnd['outcome'] }>
> = {
  unblock: { kinds: ['dependency', 'external', 'capability'], outcome: 'resolved' },
  approve: { kinds: ['approval'], outcome: 'approved' },
  deny: { kinds: ['approval'], outcome: 'denied' },
  answer: { kinds: ['human_input'], outcome: 'answered' },
};

/** The commands that end a blocker of this kind. */
export const endsOf = (kind: BlockerKind): readonly EndCommand['kind'][] =>
  (Object.keys(ENDS) as EndCommand['kind'][]).filter((name) => ENDS[name].kinds.includes(kind));

function decideEnd(command: EndCommand, deciding: ItemDeciding): Decision {
  const { item, drafts } = deciding;
  const { kinds, outcome } = ENDS[command.kind];
  const open = openBlockers(item);
  const fitting = open.filter(({ id, kind }) =>
    command.blocker === undefined ? kinds.includes(kind) : id === command.blocker,
  );
  const [blocker, second] = fitting;
  if (blocker === undefined) {
    const which = command.blocker ?? `blocker of kind ${kinds.join(' or ')}`;
    return refused('unknown_blocker', `${item.id} has no open ${which}`);
  }
  if (second !== undefined)
    return refused('unknown_blocker', `${item.id} has several: name one of ${fitting.map(({ id }) => id).join(', ')}`);
  if (!kinds.includes(blocker.kind)) {
    return refused('wrong_state', `${blocker.id} is ${blocker.kind}: it ends by ${endsOf(blocker.kind).join(' or ')}`);
  }
  const fault = rightFault(command, blocker, deciding);
  if (fault !== undefined) return refused('not_allowed', fault);
  return drafts
    .add(itemStream(item.id), 'blocker.resolved', { data: { blocker: blocker.id, outcome }, texts: said(command) })
    .decided();
}

/** Why the actor may not end the blocker; undefined if they may. */
function rightFault(command: EndCommand, blocker: Blocker, { view, board, actor }: ItemDeciding): string | undefined {
  const isOwner = hasRole(board, actor, 'owner');
  if (command.kind === 'unblock') {
    const isTheirs = blocker.owner !== undefined && blocker.owner === actor.member;
    return isOwner || isTheirs ? undefined : 'the owner of the blocker and owners of the board unblock';
  }
  if (!isPerson(view, actor)) return `only a person can ${command.kind}`;
  if (command.kind === 'answer') return undefined;
  if (!isOwner && !hasRole(board, actor, 'reviewer')) return `reviewers and owners of the board ${command.kind}`;
  return blocker.by === actor.id ? 'who asked for the approval does not give it' : undefined;
}
