// Proves the journal: every event hashed again, in order, against the chain; every text against its digest; the catalog against the fold.
// Works on rows alone, so that the host, the command line and a test use the same.
import type { WorkroomEventsTable } from '../../database/tables.ts';
import type { Head } from '../read-catalog.ts';
import { type CatalogRow, catalogRow, type Entity, evolve } from './catalog-rows.ts';
import { canonicalJson, chainHash, digestOf, hashBeforeFirst, textDigest } from './chain.ts';
import { factOf, textsOf } from './journal-event.ts';

/**
 * - `changed`: an event is not what was hashed
 * - `missing`: a number is left out
 * - `reordered`: an event stands at another one's place
 * - `foreign`: the chain begins for another project, or `expect` names another history
 * - `truncated`: the journal ends before its head
 * - `text_changed`: the words of an event are not those that were hashed
 * - `text_missing`: words are gone, and no `text.erased` of their stream says so
 * - `catalog_differs`: what is shown is not the fold of the journal (all columns but `next_at`, which settings decide, and `quarantined`)
 */
export type FaultKind =
  | 'changed'
  | 'missing'
  | 'reordered'
  | 'foreign'
  | 'truncated'
  | 'text_changed'
  | 'text_missing'
  | 'catalog_differs';

export interface JournalFault {
  readonly fault: FaultKind;
  readonly seq: number;
  readonly stream: string | null;
}

export interface Verified {
  readonly head: Head;
  readonly faults: readonly JournalFault[];
}

export interface Verifying {
  readonly projectId: string;
  /** The head row; undefined for a file without one. */
  readonly head: Head | undefined;
  /** The host goes on meanwhile: rows of the catalog that are newer than the head are left out. */
  readonly isMoving?: boolean;
  /** A head that somebody noted earlier. */
  readonly expect?: Head | undefined;
}

/** An event of which only the chain is known: of another board, in an export. */
export type HiddenEvent = Pick<WorkroomEventsTable, 'seq' | 'digest' | 'hash'>;
type Row = WorkroomEventsTable | HiddenEvent;
const isWhole = (row: Row): row is WorkroomEventsTable => 'data' in row;

type CatalogState = Pick<CatalogRow, 'stream' | 'kind' | 'data' | 'version' | 'updated_at'> & {
  readonly status: string | null;
  readonly state: string | null;
  readonly assignee: string | null;
  readonly board: string | null;
  readonly applied_seq: number;
  readonly last_item: number;
};

/** Reads the journal once, event by event, and the catalog after it. */
export class JournalCheck {
  readonly #of: Verifying;
  readonly #faults: JournalFault[] = [];
  readonly #folds = new Map<string, Entity>();
  readonly #versions = new Map<string, number>();
  /** Last event of each stream. */
  readonly #lasts = new Map<string, { readonly seq: number; readonly at: number }>();
  readonly #lastItems = new Map<string, number>();
  readonly #damaged = new Set<string>();
  /** Events without their words, until a `text.erased` of their stream names them. */
  readonly #withoutWords = new Map<number, string>();
  #before: string;
  #seq = 0;
  #expected = false;
  #held: Row | undefined;

  constructor(of: Verifying) {
    this.#of = of;
    this.#before = hashBeforeFirst(of.projectId);
  }

  /** The events in order of `seq`. One is held back, because the next one tells a swap from a change. */
  add(row: Row): void {
    if (this.#held !== undefined) this.#check(this.#held, row);
    this.#held = row;
  }

  /** Ends the journal. Then `addCatalog` takes the catalog, and `end` tells everything. */
  endJournal(): void {
    if (this.#held !== undefined) this.#check(this.#held, undefined);
    this.#held = undefined;
    const { head, expect } = this.#of;
    if (head !== undefined && head.seq > this.#seq) this.#fault('truncated', this.#seq + 1, null);
    else if (head !== undefined && head.seq > 0 && head.hash !== this.#before && this.#faults.length === 0)
      this.#fault('changed', this.#seq, null);
    else if (head !== undefined && head.seq < this.#seq) this.#fault('catalog_differs', this.#seq, null);
    if (expect !== undefined && expect.seq > this.#seq && this.#faults.length === 0)
      this.#fault('truncated', this.#seq + 1, null);
    else if (expect !== undefined && expect.seq > 0 && !this.#expected && this.#faults.length === 0)
      this.#fault('foreign', expect.seq, null);
    for (const [seq, stream] of this.#withoutWords) {
      this.#fault('text_missing', seq, stream);
      this.#damaged.add(stream);
    }
  }

  /** Words are gone of events that no `text.erased` named so far. */
  get lacksWords(): boolean {
    return this.#withoutWords.size > 0;
  }

  /** What an event `text.erased` names. The host erases while a proof goes on, so the event may lie behind the head of the proof. */
  explain({ kind, stream, data }: Pick<WorkroomEventsTable, 'kind' | 'stream' | 'data'>): void {
    if (kind !== 'text.erased') return;
    const { seqs } = JSON.parse(data) as { readonly seqs: readonly number[] };
    for (const seq of seqs) if (this.#withoutWords.get(seq) === stream) this.#withoutWords.delete(seq);
  }

  addCatalog(row: CatalogState): void {
    const entity = this.#folds.get(row.stream);
    this.#folds.delete(row.stream);
    if (row.applied_seq > this.#seq && this.#of.isMoving === true) return; // changed after the journal was read
    if (this.#damaged.has(row.stream)) return; // its events are told already
    if (entity === undefined) return this.#fault('catalog_differs', 0, row.stream);
    const last = this.#lasts.get(row.stream);
    const folded = catalogRow({
      stream: row.stream,
      entity,
      at: last?.at ?? 0,
      reminding: { stuckMs: 0, remindMs: 0 },
    });
    const differs =
      folded.version !== row.version ||
      folded.updated_at !== row.updated_at ||
      last?.seq !== row.applied_seq ||
      (this.#lastItems.get(row.stream) ?? 0) !== row.last_item ||
      folded.data !== row.data ||
      folded.kind !== row.kind ||
      (folded.board ?? null) !== row.board ||
      (folded.status ?? null) !== row.status ||
      (folded.state ?? null) !== row.state ||
      (folded.assignee ?? null) !== row.assignee;
    if (differs) this.#fault('catalog_differs', 0, row.stream);
  }

  /** For an export, which has no catalog. */
  endWithoutCatalog(): Verified {
    this.#folds.clear();
    return this.end();
  }

  end(): Verified {
    for (const stream of this.#folds.keys()) if (!this.#damaged.has(stream)) this.#fault('catalog_differs', 0, stream);
    return { head: { seq: this.#seq, hash: this.#before }, faults: this.#faults };
  }

  #check(row: Row, next: Row | undefined): void {
    const at = this.#seq + 1;
    if (row.seq !== at) {
      this.#fault('missing', at, null);
      this.#follow(row);
      if (!isWhole(row)) return;
      this.#damaged.add(row.stream);
      return this.#fold(row);
    }
    const digest = isWhole(row) ? digestOf(row) : row.digest;
    const stream = isWhole(row) ? row.stream : null;
    const hash = chainHash(this.#before, row.seq, digest);
    if (digest !== row.digest || hash !== row.hash) {
      const isSwapped = next !== undefined && chainHash(this.#before, at, next.digest) === next.hash;
      const isOther = at === 1 && digest === row.digest && hash !== row.hash && !isSwapped;
      this.#fault(isSwapped ? 'reordered' : isOther ? 'foreign' : 'changed', at, stream);
      if (stream !== null) this.#damaged.add(stream);
    } else if (isWhole(row)) {
      this.#checkTexts(row);
      this.explain(row);
    }
    this.#follow(row);
    if (isWhole(row)) this.#fold(row);
  }

  /** The chain goes on from what is stored, so that one fault is told once and what lies behind it is looked at. */
  #follow(row: Row): void {
    this.#seq = row.seq;
    this.#before = row.hash;
    const { expect } = this.#of;
    if (expect?.seq === row.seq) this.#expected = expect.hash === row.hash;
  }

  #checkTexts(row: WorkroomEventsTable): void {
    let texts: ReturnType<typeof textsOf>;
    let data: Readonly<Record<string, unknown>>;
    try {
      texts = textsOf(row);
      data = JSON.parse(row.data) as Readonly<Record<string, unknown>>;
    } catch {
      return this.#textFault('text_changed', row);
    }
    const isCanonical = row.texts === null || canonicalJson(texts) === row.texts;
    const fits = Object.entries(texts).every(([field, sealed]) => textDigest(sealed) === data[field]);
    if (!isCanonical || !fits) return this.#textFault('text_changed', row);
    const fields = Object.keys(data).filter((field) => TEXT_FIELDS.has(`${row.kind} ${field}`));
    if (fields.some((field) => !Object.hasOwn(texts, field))) this.#withoutWords.set(row.seq, row.stream);
  }

  #textFault(fault: FaultKind, row: WorkroomEventsTable): void {
    this.#fault(fault, row.seq, row.stream);
    this.#damaged.add(row.stream);
  }

  #fold(row: WorkroomEventsTable): void {
    const version = (this.#versions.get(row.stream) ?? 0) + 1;
    if (row.version !== version && !this.#damaged.has(row.stream)) {
      this.#fault('reordered', row.seq, row.stream);
      this.#damaged.add(row.stream);
    }
    this.#versions.set(row.stream, row.version);
    this.#lasts.set(row.stream, row);
    if (this.#damaged.has(row.stream)) return;
    try {
      const entity = evolve(this.#folds.get(row.stream), factOf(row));
      this.#folds.set(row.stream, entity);
      if (entity.kind !== 'item') return;
      const board = `board/${entity.item.board}`;
      this.#lastItems.set(board, Math.max(this.#lastItems.get(board) ?? 0, entity.item.number));
    } catch {
      this.#fault('changed', row.seq, row.stream);
      this.#damaged.add(row.stream);
    }
  }

  #fault(fault: FaultKind, seq: number, stream: string | null): void {
    this.#faults.push({ fault, seq, stream });
  }
}

/** Fields of `data` that hold the digest of a text, by kind of event. */
const TEXT_FIELDS = new Set(
  [
    ['member.linked', 'user'],
    ['board.created', 'name'],
    ['board.changed', 'name'],
    ['item.created', 'title', 'text'],
    ['item.edited', 'title', 'text'],
    ['item.commented', 'text'],
    ['item.submitted', 'text'],
    ['item.rejected', 'text'],
    ['item.cancelled', 'text'],
    ['blocker.added', 'reason'],
    ['blocker.resolved', 'text'],
    ['stream.released', 'reason'],
  ].flatMap(([kind = '', ...fields]) => fields.map((field) => `${kind} ${field}`)),
);
