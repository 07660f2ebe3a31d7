// The one decision of the Workroom: which facts a command makes, or why it is refused. Pure: the same view, command, actor and time give the
// same answer, for chat, HTTP, the command line, jobs and plugins.
import type { CommandOf, WorkCommand } from './commands.ts';
import { decideBlocker } from './decide-blockers.ts';
import { decideTeam } from './decide-team.ts';
import { type Deciding, refused, said } from './deciding.ts';
import { Drafts, type ItemDeciding } from './drafts.ts';
import {
  type Actor,
  boardStream,
  type Decision,
  type Item,
  isEnded,
  itemStream,
  openBlockers,
  type Refusal,
} from './model.ts';
import { hasRole, isAssignee, isCreator, isOnBoard } from './rights.ts';

export function decide(command: WorkCommand, deciding: Deciding): Decision {
  if (command.kind === 'new') return decideNew(command, deciding);
  if (command.kind === 'release') return decideRelease(command, deciding);
  if (!('item' in command)) return decideTeam(command, deciding);
  const { view, actor } = deciding;
  const item = view.items[command.item];
  const board = item === undefined ? undefined : view.boards[item.board];
  if (item === undefined || board === undefined) return refused('unknown_item', `there is no item ${command.item}`);
  if (view.quarantined.includes(itemStream(item.id))) return quarantined(item.id);
  if (!isOnBoard(board, actor)) return refused('not_allowed', `${nameOf(actor)} has no role on board ${board.id}`);
  return decideItem(command, { view, actor, now: deciding.now, item, board, drafts: new Drafts(deciding) });
}

/** Takes a damaged stream into use again, as it is shown now. */
function decideRelease({ stream, reason }: CommandOf<'release'>, deciding: Deciding): Decision {
  const { view, actor } = deciding;
  if (!actor.isOperator) return refused('not_allowed', 'operators release a damaged stream');
  if (!view.quarantined.includes(stream)) return refused('wrong_state', `${stream} is not kept from commands`);
  return new Drafts(deciding).add(stream, 'stream.released', { texts: { reason } }).decided();
}

function decideNew(command: CommandOf<'new'>, deciding: Deciding): Decision {
  const { view, actor } = deciding;
  const board = view.boards[command.board];
  if (board === undefined) return refused('unknown_board', `there is no board ${command.board}`);
  if (view.quarantined.includes(boardStream(board.id))) return quarantined(board.id);
  if (board.archived) return refused('wrong_state', `board ${board.id} is archived`);
  if (!isOnBoard(board, actor)) return refused('not_allowed', `${nameOf(actor)} has no role on board ${board.id}`);
  const number = (view.lastItems[board.id] ?? 0) + 1;
  const id = `${board.id}-${number}`;
  const drafts = new Drafts(deciding);
  const text = command.text === undefined ? {} : { text: command.text };
  drafts.add(itemStream(id), 'item.created', {
    data: { item: id, board: board.id, number },
    texts: { title: command.title, ...text },
  });
  if (command.assign === undefined) return drafts.decided();
  const item = drafts.item(id);
  return decideItem({ kind: 'assign', item: id, member: command.assign }, { ...deciding, item, board, drafts });
}

type ItemCommand = Extract<WorkCommand, { readonly item: string }>;

function decideItem(command: ItemCommand, deciding: ItemDeciding): Decision {
  const { item, board, actor, drafts } = deciding;
  const stream = itemStream(item.id);
  const mayEdit = isCreator(item, actor) || isAssignee(item, actor) || hasRole(board, actor, 'owner');
  switch (command.kind) {
    case 'comment':
      return drafts.add(stream, 'item.commented', { texts: { text: command.text } }).decided();
    case 'edit': {
      if (isEnded(item)) return ended(item);
      if (!mayEdit) return refused('not_allowed', 'the creator, the assignee and owners of the board edit an item');
      const texts = {
        ...(command.title === undefined ? {} : { title: command.title }),
        ...(command.text === undefined ? {} : { text: command.text }),
      };
      return drafts.add(stream, 'item.edited', { texts }).decided();
    }
    case 'due':
      if (isEnded(item)) return ended(item);
      if (!mayEdit) return refused('not_allowed', 'the creator, the assignee and owners of the board set a deadline');
      return drafts.add(stream, 'item.due_set', { data: { due: command.due } }).decided();
    case 'cancel':
      if (isEnded(item)) return ended(item);
      if (!isCreator(item, actor) && !hasRole(board, actor, 'owner'))
        return refused('not_allowed', 'the creator and owners of the board cancel an item');
      return drafts.add(stream, 'item.cancelled', { texts: said(command) }).decided();
    case 'reopen':
      if (!isEnded(item)) return refused('wrong_state', `${item.id} is ${item.status}: it has not ended`);
      if (!isCreator(item, actor) && !hasRole(board, actor, 'owner'))
        return refused('not_allowed', 'the creator and owners of the board reopen an item');
      return drafts.add(stream, 'item.reopened').decided();
    case 'assign':
    case 'take':
    case 'drop':
    case 'start':
    case 'submit':
    case 'accept':
    case 'reject':
      return decideProgress(command, deciding);
    default:
      return decideBlocker(command, deciding);
  }
}

type Progress = CommandOf<'assign' | 'take' | 'drop' | 'start' | 'submit' | 'accept' | 'reject'>;

/** Who has an item, and how far it is. */
function decideProgress(command: Progress, { item, board, actor, view, drafts }: ItemDeciding): Decision {
  const stream = itemStream(item.id);
  if (isEnded(item)) return ended(item);
  const isOwner = hasRole(board, actor, 'owner');
  const [blocker] = openBlockers(item);
  const isHeld = blocker !== undefined && ['take', 'start', 'submit', 'accept'].includes(command.kind);
  const held = (): Refusal => refused('item_blocked', `${item.id} is blocked by ${blocker?.id} (${blocker?.kind})`);
  const needs = (...status: readonly Item['status'][]): Refusal | undefined =>
    status.includes(item.status)
      ? undefined
      : refused('wrong_state', `${item.id} is ${item.status}: ${command.kind} needs ${status.join(' or ')}`);
  switch (command.kind) {
    case 'assign': {
      const fault = needs('open', 'active');
      if (fault !== undefined) return fault;
      const member = view.team.members[command.member];
      if (member === undefined || member.removed)
        return refused('unknown_member', `there is no member ${command.member}`);
      if ((board.roles[member.id] ?? []).length === 0)
        return refused('unknown_member', `${member.id} has no role on board ${board.id}`);
      if (member.kind === 'agent')
        return refused('agents_missing', `${member.id} is an agent, and this version runs no agents yet`);
      const isSelf = actor.member === member.id;
      if (!isOwner && !(isSelf && hasRole(board, actor, 'worker')))
        return refused('not_allowed', 'owners of the board assign; a worker assigns itself');
      if (!isOwner && item.assignee !== undefined && !isSelf)
        return refused('wrong_state', `${item.id} is with ${item.assignee}`);
      return drafts.add(stream, 'item.assigned', { data: { member: member.id } }).decided();
    }
    case 'take': {
      const fault = needs('open');
      if (fault !== undefined) return fault;
      if (actor.member === undefined)
        return refused('unknown_member', 'only a member of the team takes an item: join it first');
      if (!hasRole(board, actor, 'worker', 'owner')) return refused('not_allowed', 'workers of the board take items');
      if (item.assignee !== undefined && item.assignee !== actor.member)
        return refused('wrong_state', `${item.id} is with ${item.assignee}`);
      if (isHeld) return held();
      if (item.assignee !== actor.member) drafts.add(stream, 'item.assigned', { data: { member: actor.member } });
      return drafts.add(stream, 'item.started').decided();
    }
    case 'drop': {
      const fault = needs('open', 'active');
      if (fault !== undefined) return fault;
      if (item.assignee === undefined) return refused('wrong_state', `nobody has ${item.id}`);
      if (!isOwner && !isAssignee(item, actor))
        return refused('not_allowed', 'the assignee and owners of the board drop an item');
      return drafts.add(stream, 'item.assigned', { data: { member: null } }).decided();
    }
    case 'start':
    case 'submit': {
      const fault = needs(command.kind === 'start' ? 'open' : 'active');
      if (fault !== undefined) return fault;
      if (!isAssignee(item, actor)) return refused('not_allowed', `only the assignee ${command.kind}s an item`);
      if (isHeld) return held();
      if (command.kind === 'start') return drafts.add(stream, 'item.started').decided();
      drafts.add(stream, 'item.submitted', { data: { done: !board.review }, texts: said(command) });
      if (!board.review) drafts.freeDependents(item.id);
      return drafts.decided();
    }
    case 'accept':
    case 'reject': {
      const fault = needs('review');
      if (fault !== undefined) return fault;
      if (!hasRole(board, actor, 'reviewer', 'owner'))
        return refused('not_allowed', `reviewers and owners of the board ${command.kind} an item`);
      if (isAssignee(item, actor)) return refused('not_allowed', 'the assignee does not review their own work');
      if (command.kind === 'reject') return drafts.add(stream, 'item.rejected', { texts: said(command) }).decided();
      if (isHeld) return held();
      drafts.add(stream, 'item.accepted');
      drafts.freeDependents(item.id);
      return drafts.decided();
    }
  }
}

const ended = ({ id, status }: Item): Refusal => refused('wrong_state', `${id} is ${status}`);

const quarantined = (id: string): Refusal =>
  refused('stream_quarantined', `${id} has a damaged event and takes no command: see svc workroom verify`);

const nameOf = (actor: Actor): string => actor.member ?? actor.id;
