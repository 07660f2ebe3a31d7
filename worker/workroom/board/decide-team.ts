// The team and its boards: members, accounts, roles, bound conversations. Pure.
import type { WorkCommand } from './commands.ts';
import { type Deciding, refused } from './deciding.ts';
import { Drafts } from './drafts.ts';
import { type Board, boardStream, type Decision, type Member, TEAM } from './model.ts';
import { hasRole } from './rights.ts';

export type TeamCommand = Exclude<WorkCommand, { readonly item: string } | { readonly kind: 'new' | 'release' }>;
type MemberCommand = Extract<TeamCommand, { readonly kind: `member.${string}` }>;
type BoardCommand = Exclude<TeamCommand, MemberCommand | { readonly kind: 'board.add' }>;

export function decideTeam(command: TeamCommand, deciding: Deciding): Decision {
  switch (command.kind) {
    case 'member.add':
    case 'member.link':
    case 'member.unlink':
    case 'member.remove':
      return decideMember(command, deciding);
    case 'board.add': {
      const { view, actor } = deciding;
      if (!actor.isOperator) return refused('not_allowed', 'operators add boards');
      if (view.boards[command.board] !== undefined)
        return refused('already_exists', `there is a board ${command.board}`);
      const data = { board: command.board, review: command.review ?? true };
      const drafts = new Drafts(deciding);
      return drafts.add(boardStream(command.board), 'board.created', { data, texts: { name: command.name } }).decided();
    }
    default:
      return decideBoard(command, deciding);
  }
}

function decideMember(command: MemberCommand, deciding: Deciding): Decision {
  const { view, actor } = deciding;
  if (!actor.isOperator) return refused('not_allowed', 'operators change the team');
  if (view.quarantined.includes(TEAM)) return refused('stream_quarantined', 'the team has a damaged event');
  const drafts = new Drafts(deciding);
  const { member: id } = command;
  const member = view.team.members[id];
  if (command.kind === 'member.add') {
    if (member !== undefined)
      return refused(
        'already_exists',
        member.removed ? `${id} was a member: choose another id` : `there is a member ${id}`,
      );
    return drafts.add(TEAM, 'member.added', { data: { member: id, binding: command.binding ?? null } }).decided();
  }
  if (member === undefined || member.removed) return refused('unknown_member', `there is no member ${id}`);
  switch (command.kind) {
    case 'member.link': {
      if (member.kind === 'agent') return refused('wrong_state', `${id} is an agent: it has a binding, not an account`);
      const owner = memberOf(view.team.members, command);
      if (owner !== undefined) return refused('already_exists', `this account belongs to ${owner.id}`);
      return drafts
        .add(TEAM, 'member.linked', { data: { member: id, endpoint: command.endpoint }, texts: { user: command.user } })
        .decided();
    }
    case 'member.unlink': {
      const index = member.accounts.findIndex(
        ({ endpoint, user }) => endpoint === command.endpoint && user === command.user,
      );
      if (index < 0) return refused('unknown_member', `${id} has no such account`);
      return drafts.add(TEAM, 'member.unlinked', { data: { member: id, index } }).decided();
    }
    case 'member.remove':
      return drafts.add(TEAM, 'member.removed', { data: { member: id } }).decided();
  }
}

/** The member to whom an account belongs. */
export const memberOf = (
  members: Readonly<Record<string, Member>>,
  of: { readonly endpoint: string; readonly user: string },
): Member | undefined =>
  Object.values(members).find(({ accounts }) =>
    accounts.some(({ endpoint, user }) => endpoint === of.endpoint && user === of.user),
  );

function decideBoard(command: BoardCommand, deciding: Deciding): Decision {
  const { view, actor } = deciding;
  const board = view.boards[command.board];
  if (board === undefined) return refused('unknown_board', `there is no board ${command.board}`);
  const stream = boardStream(board.id);
  if (view.quarantined.includes(stream)) return refused('stream_quarantined', `board ${board.id} has a damaged event`);
  if (!hasRole(board, actor, 'owner')) return refused('not_allowed', 'owners of the board change it');
  if (board.archived) return refused('wrong_state', `board ${board.id} is archived`);
  const drafts = new Drafts(deciding);
  switch (command.kind) {
    case 'board.change': {
      const name = command.name === undefined ? {} : { name: command.name };
      const data = command.review === undefined ? {} : { review: command.review };
      return drafts.add(stream, 'board.changed', { data, texts: name }).decided();
    }
    case 'board.archive':
      return drafts.add(stream, 'board.archived').decided();
    case 'role.grant':
    case 'role.revoke':
      return decideRole(command, { deciding, board, drafts });
    case 'conversation.bind':
    case 'conversation.unbind': {
      const { endpoint, conversation } = command;
      const owner = boardAt(view.boards, { endpoint, conversation });
      if (command.kind === 'conversation.bind') {
        if (owner !== undefined) return refused('already_exists', `this conversation belongs to board ${owner.id}`);
        return drafts.add(stream, 'conversation.bound', { data: { endpoint, conversation } }).decided();
      }
      if (owner?.id !== board.id) return refused('wrong_state', `this conversation is not bound to board ${board.id}`);
      return drafts.add(stream, 'conversation.unbound', { data: { endpoint, conversation } }).decided();
    }
  }
}

interface RoleDeciding {
  readonly deciding: Deciding;
  readonly board: Board;
  readonly drafts: Drafts;
}

function decideRole(
  { kind, member: id, role }: Extract<BoardCommand, { readonly role: string }>,
  { deciding, board, drafts }: RoleDeciding,
): Decision {
  const has = (board.roles[id] ?? []).includes(role);
  const data = { member: id, role };
  if (kind === 'role.revoke')
    return has
      ? drafts.add(boardStream(board.id), 'role.revoked', { data }).decided()
      : refused('wrong_state', `${id} is no ${role} of board ${board.id}`);
  const member = deciding.view.team.members[id];
  if (member === undefined || member.removed) return refused('unknown_member', `there is no member ${id}`);
  if (has) return refused('already_exists', `${id} is ${role} of board ${board.id} already`);
  return drafts.add(boardStream(board.id), 'role.granted', { data }).decided();
}

/** The board that a conversation is bound to. */
export const boardAt = (
  boards: Readonly<Record<string, Board>>,
  at: { readonly endpoint: string; readonly conversation: string },
): Board | undefined =>
  Object.values(boards).find(
    ({ archived, conversations }) =>
      !archived &&
      conversations.some(({ endpoint, conversation }) => endpoint === at.endpoint && conversation === at.conversation),
  );
