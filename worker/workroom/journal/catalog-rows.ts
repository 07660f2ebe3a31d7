// The rows of the catalog: the fold of each stream with the columns that lists ask for.
import type { Insertable } from 'kysely';
import type { Tables } from '../../database/tables.ts';
import { nextAnnouncement, type Reminding } from '../board/due-times.ts';
import { changeItem, evolveBoard, evolveItem, evolveTeam, NO_TEAM } from '../board/evolve.ts';
import {
  type Board,
  type Fact,
  type Item,
  openBlockers,
  stateOf,
  TEAM,
  type Team,
  type View,
  withEntry,
} from '../board/model.ts';
import { canonicalJson, quoted } from './chain.ts';

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

/** Written out: an object of a row with the columns of its kind spread into it costs as much as its JSON. */
export function catalogRow({ stream, entity, at, reminding }: RowOf): CatalogRow {
  if (entity.kind !== 'item') {
    const { version } = entity.kind === 'team' ? entity.team : entity.board;
    return {
      stream,
      kind: entity.kind,
      board: entity.kind === 'board' ? entity.board.id : null,
      version,
      status: null,
      state: null,
      assignee: null,
      next_at: null,
      updated_at: at,
      data: canonicalJson(entity.kind === 'team' ? entity.team : entity.board),
    };
  }
  const { item } = entity;
  return {
    stream,
    kind: entity.kind,
    board: item.board,
    version: item.version,
    status: item.status,
    state: stateOf(item),
    assignee: item.assignee ?? null,
    next_at: nextAnnouncement(item, reminding) ?? null,
    updated_at: at,
    data: itemJson(item),
  };
}

/** `canonicalJson` of an item, with its keys written out. Each event needs it, and to sort them costs more than the rest. */
export function itemJson(item: Item): string {
  const { assignee, blockers, comments, creator, due, overdueAt, stuckAt, text, title } = item;
  return `{${optional('assignee', assignee)}"blockers":${listJson(blockers)},"board":${quoted(item.board)},"comments":${listJson(comments)},"createdAt":${item.createdAt},"creator":${quoted(creator)},${optional('due', due)}"id":${quoted(item.id)},"number":${item.number},${optional('overdueAt', overdueAt)}"status":"${item.status}",${optional('stuckAt', stuckAt)}${optional('text', text)}${optional('title', title)}"touchedAt":${item.touchedAt},"version":${item.version}}`;
}

const listJson = (list: readonly unknown[]): string => (list.length === 0 ? '[]' : canonicalJson(list));

function optional(key: string, value: string | number | undefined): string {
  if (value === undefined) return '';
  return `"${key}":${typeof value === 'string' ? quoted(value) : value},`;
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
  let { team, boards, items, lastItems } = view;
  for (const fact of facts) {
    const entity = evolve(entityIn({ team, boards, items }, fact.stream), fact);
    if (entity.kind === 'team') team = entity.team;
    else if (entity.kind === 'board') boards = withEntry(boards, entity.board.id, entity.board);
    else {
      const { item } = entity;
      items = withEntry(items, item.id, item);
      if (item.number > (lastItems[item.board] ?? 0)) lastItems = withEntry(lastItems, item.board, item.number);
    }
  }
  return { team, boards, items, lastItems, quarantined: view.quarantined };
}

export function entityIn(view: Pick<View, 'team' | 'boards' | 'items'>, stream: string): Entity | undefined {
  if (stream === TEAM) return { kind: 'team', team: view.team };
  const id = stream.slice(stream.indexOf('/') + 1);
  if (stream.startsWith('board/')) {
    const board = view.boards[id];
    return board && { kind: 'board', board };
  }
  const item = view.items[id];
  return item && { kind: 'item', item };
}

/** Open dependencies of an item, as rows of `workroom_needs`. */
export const needsOf = (item: Item): readonly { readonly blocker: string; readonly needs: string }[] =>
  openBlockers(item).flatMap(({ id, needs }) => (needs === undefined ? [] : [{ blocker: id, needs }]));
