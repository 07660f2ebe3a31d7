// The rows of the catalog: the fold of each stream with the columns that lists ask for.
import type { Insertable } from 'kysely';
import type { Tables } from '../../database/tables.ts';
import { nextAnnouncement, type Reminding } from '../board/due-times.ts';
import { changeItem, evolveBoard, evolveItem, evolveTeam, NO_TEAM } from '../board/evolve.ts';
import { type Board, type Fact, type Item, openBlockers, stateOf, TEAM, type Team, type View } from '../board/model.ts';
import { canonicalJson } from './chain.ts';

export type CatalogRow = Omit<Insertable<Tables['workroom_catalog']>, 'applied_seq' | 'last_item' | 'quarantined'>;

export type Entity =
  | { readonly kind: 'team'; readonly team: Team }
  | { readonly kind: 'board'; readonly board: Board }
  | { readonly kind: 'item'; readonly item: Item };

export interface RowOf {
  readonly stream: string;
  readonly entity: Entity;
  /** Time of the last fact. */
  readonly at: number;
  readonly reminding: Reminding;
}

export function catalogRow({ stream, entity, at, reminding }: RowOf): CatalogRow {
  const none = { board: null, status: null, state: null, assignee: null, next_at: null };
  const { version } = entity.kind === 'team' ? entity.team : entity.kind === 'board' ? entity.board : entity.item;
  const row = { stream, kind: entity.kind, version, updated_at: at };
  if (entity.kind === 'team') return { ...row, ...none, data: canonicalJson(entity.team) };
  if (entity.kind === 'board') return { ...row, ...none, board: entity.board.id, data: canonicalJson(entity.board) };
  const { item } = entity;
  return {
    ...row,
    board: item.board,
    status: item.status,
    state: stateOf(item),
    assignee: item.assignee ?? null,
    next_at: nextAnnouncement(item, reminding) ?? null,
    data: canonicalJson(item),
  };
}

/** The fold of a stream after one more fact. `before` undefined: the stream begins. */
export function evolve(before: Entity | undefined, fact: Fact): Entity {
  const { stream } = fact;
  if (stream.startsWith('item/'))
    return { kind: 'item', item: evolveItem(before?.kind === 'item' ? before.item : undefined, fact) };
  if (stream.startsWith('board/'))
    return { kind: 'board', board: evolveBoard(before?.kind === 'board' ? before.board : undefined, fact) };
  if (stream === TEAM) return { kind: 'team', team: evolveTeam(before?.kind === 'team' ? before.team : NO_TEAM, fact) };
  throw new Error(`no such stream: ${stream}`);
}

/** The same for a fold that nobody else holds: an item is changed in place. */
export function evolveOwn(own: Entity | undefined, fact: Fact): Entity {
  if (own?.kind !== 'item' || fact.kind === 'item.created') return evolve(own, fact);
  changeItem(own.item, fact);
  return own;
}

export function entityOf(row: Pick<CatalogRow, 'kind' | 'data'>): Entity {
  const value = JSON.parse(row.data) as unknown;
  if (row.kind === 'team') return { kind: 'team', team: value as Team };
  return row.kind === 'board' ? { kind: 'board', board: value as Board } : { kind: 'item', item: value as Item };
}

/** The view after the facts of a decision. */
export function applyFacts(view: View, facts: readonly Fact[]): View {
  let next = view;
  for (const fact of facts) {
    const entity = evolve(entityIn(next, fact.stream), fact);
    if (entity.kind === 'team') next = { ...next, team: entity.team };
    else if (entity.kind === 'board') next = { ...next, boards: { ...next.boards, [entity.board.id]: entity.board } };
    else {
      const { item } = entity;
      const last = Math.max(next.lastItems[item.board] ?? 0, item.number);
      next = {
        ...next,
        items: { ...next.items, [item.id]: item },
        lastItems: { ...next.lastItems, [item.board]: last },
      };
    }
  }
  return next;
}

export function entityIn(view: View, stream: string): Entity | undefined {
  const [kind, id = ''] = stream.split('/');
  if (kind === 'team') return { kind, team: view.team };
  if (kind === 'board') {
    const board = view.boards[id];
    return board && { kind, board };
  }
  const item = view.items[id];
  return item && { kind: 'item', item };
}

/** Open dependencies of an item, as rows of `workroom_needs`. */
export const needsOf = (item: Item): readonly { readonly blocker: string; readonly needs: string }[] =>
  openBlockers(item).flatMap(({ id, needs }) => (needs === undefined ? [] : [{ blocker: id, needs }]));
