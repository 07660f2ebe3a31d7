// The facts of one decision, in order. Each draft is folded at once, so that a later step of the same decision sees it.
import type { Deciding } from './deciding.ts';
import { evolveItem } from './evolve.ts';
import {
  type Board,
  type Decision,
  type Fact,
  type FactKind,
  HOST,
  type Item,
  isEnded,
  itemStream,
  openBlockers,
  TEAM,
  type View,
} from './model.ts';

/** A decision about one item of one board, as far as the command was understood. */
export interface ItemDeciding extends Deciding {
  readonly item: Item;
  readonly board: Board;
  readonly drafts: Drafts;
}

interface Drafted {
  readonly data?: Fact['data'];
  readonly texts?: Readonly<Record<string, string>>;
}

export class Drafts {
  readonly #deciding: Deciding;
  readonly #facts: Fact[] = [];
  readonly #items = new Map<string, Item>();

  constructor(deciding: Deciding) {
    this.#deciding = deciding;
  }

  add(stream: string, kind: FactKind, { data = {}, texts = {} }: Drafted = {}): this {
    this.#push(stream, kind, { data, texts, actor: this.#deciding.actor.id });
    return this;
  }

  /** As `add`, for what the host does because of the command. */
  addByHost(stream: string, kind: FactKind, data: Fact['data'] = {}): this {
    this.#push(stream, kind, { data, texts: {}, actor: HOST.id });
    return this;
  }

  /**
   * An item that is done ends the blockers that waited for it, in the same decision. A damaged item is left as it is: it takes no event, and must not
   * keep the other from its end.
   */
  freeDependents(needed: string): void {
    for (const item of Object.values(this.#deciding.view.items)) {
      if (isEnded(item) || this.#deciding.view.quarantined.includes(itemStream(item.id))) continue;
      for (const blocker of openBlockers(item))
        if (blocker.kind === 'dependency' && blocker.needs === needed)
          this.addByHost(itemStream(item.id), 'blocker.resolved', { blocker: blocker.id, outcome: 'done' });
    }
  }

  /** An item as the drafts leave it. */
  item(id: string): Item {
    const item = this.#items.get(id) ?? this.#deciding.view.items[id];
    if (item === undefined) throw new Error(`no item ${id} in this decision`);
    return item;
  }

  decided(): Decision {
    return { kind: 'decided', facts: this.#facts };
  }

  #push(stream: string, kind: FactKind, of: Pick<Fact, 'data' | 'texts' | 'actor'>): void {
    const drafted = this.#facts.filter((fact) => fact.stream === stream).length;
    const version = versionOf(this.#deciding.view, stream) + drafted + 1;
    const { data, texts, actor } = of;
    const fact: Fact = { stream, version, kind, at: this.#deciding.now, actor, data: withNames(data, texts), texts };
    this.#facts.push(fact);
    if (!stream.startsWith('item/')) return;
    const id = stream.slice('item/'.length);
    this.#items.set(id, evolveItem(this.#items.get(id) ?? this.#deciding.view.items[id], fact));
  }
}

/** A text leaves its name in `data`, where its digest will stand. */
function withNames(data: Fact['data'], texts: Fact['texts']): Fact['data'] {
  const names = Object.keys(texts);
  if (names.length === 0) return data;
  const named = { ...data };
  for (const name of names) named[name] = '';
  return named;
}

function versionOf({ team, boards, items }: View, stream: string): number {
  if (stream === TEAM) return team.version;
  const id = stream.slice(stream.indexOf('/') + 1);
  return (stream.startsWith('board/') ? boards[id]?.version : items[id]?.version) ?? 0;
}
