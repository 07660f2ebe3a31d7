// Who may do what on a board. Pure.
import type { Actor, Board, Item, Role, View } from './model.ts';

/** An operator owns every board. A plugin that acts for nobody has a worker's rights; so has a job. */
export function rolesOf(board: Board, actor: Actor): readonly Role[] {
  if (actor.isOperator) return ['owner'];
  if (actor.member !== undefined) return board.roles[actor.member] ?? [];
  return actor.id.startsWith('plugin:') || actor.id.startsWith('job:') ? ['worker'] : [];
}

export const hasRole = (board: Board, actor: Actor, ...roles: readonly Role[]): boolean =>
  rolesOf(board, actor).some((role) => roles.includes(role));

export const isOnBoard = (board: Board, actor: Actor): boolean => rolesOf(board, actor).length > 0;

export const isAssignee = (item: Item, { member }: Actor): boolean => member !== undefined && item.assignee === member;

export const isCreator = (item: Item, actor: Actor): boolean => item.creator === actor.id;

/** Approvals and answers are for people: neither an agent, a plugin nor a job gives them. */
export const isPerson = (view: View, actor: Actor): boolean =>
  actor.member === undefined ? actor.isOperator : view.team.members[actor.member]?.kind === 'person';
