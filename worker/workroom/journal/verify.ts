// Proves the journal: every event hashed again, in order, against the chain; every text against its digest; the catalog against the fold.
// Works on rows alone, so that the host, the command line and a test use the same.
import type { WorkroomEventsTable } from '../../database/tables.ts';
import type { Reminding } from '../board/due-times.ts';
import type { Fact, FactKind } from '../board/model.ts';
import type { Head } from '../read-catalog.ts';
import { type CatalogRow, catalogRow, type Entity, evolveOwn } from './catalog-rows.ts';
import { chainHash, digestOf, hashBeforeFirst, quoted, type SealedText, textDigest } from './chain.ts';

/**
 * - `changed`: an event is not what was hashed
 * - `missing`: a number is left out
 * - `reordered`: an event stands at another one's place
 * - `foreign`: the chain begins for another project, or `expect` names another history
 * - `truncated`: the journal ends before its head
 * - `text_changed`: the words of an event are not those that were hashed
 * - `text_missing`: words are gone, and no `text.erased` of their stream says so
 * - `hidden`: of an event in an export of the whole journal only the digest is there
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
  | 'hidden'
  | 'catalog_differs';

export interface JournalFault {
  readonly fault: FaultKind;
  readonly seq: number;
  readonly stream: string | null;
}

export interface Verified {
  readonly head: Head;
  readonly faults: readonly JournalFault[];
  /** Events of an export of which only the digest is there: their content was not checked. Undefined for a journal, which has none. */
  readonly hidden?: readonly SeqRange[];
}

/** Numbers of events, both ends included. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

export interface Verifying {
  readonly projectId: string;
  /** The head row; undefined for a file without one. */
  readonly head: Head | undefined;
  /** The host goes on meanwhile: rows of the catalog that are newer than the head are left out. */
  readonly isMoving?: boolean;
  /** An export that leaves nothing out. */
  readonly isWhole?: boolean;
  /** A head that somebody noted earlier. */
  readonly expect?: Head | undefined;
  /** Called with the folds after this event: what a catalog of that moment shows. */
  readonly watch?: { readonly seq: number; see(folds: ReadonlyMap<string, Entity>, hash: string): void } | undefined;
}

/** An event of which only the chain is known: of another board, in an export. */
export type HiddenEvent = Pick<WorkroomEventsTable, 'seq' | 'digest' | 'hash'>;
type Row = WorkroomEventsTable | HiddenEvent;
const isWhole = (row: Row): row is WorkroomEventsTable => 'data' in row;

/** A row of the catalog, folded anew. */
export interface FoldedRow {
  readonly row: CatalogRow;
  readonly entity: Entity;
  readonly appliedSeq: number;
  readonly lastItem: number;
}

export interface BrokenEvent {
  /** The number that it has by its place. */
  readonly seq: number;
  /** Undefined: unknown. */
  readonly stream: string | undefined;
  readonly event: WorkroomEventsTable | undefined;
}

type CatalogState = Pick<CatalogRow, 'stream' | 'kind' | 'data' | 'version' | 'updated_at'> & {
  readonly status: string | null;
  readonly state: string | null;
  readonly assignee: string | null;
  readonly board: string | null;
  readonly applied_seq: number;
  readonly last_item: number;
};

/** What is known of a stream so far. One record a stream: an event costs one look-up. */
interface StreamState {
  version: number;
  /** Number and time of its last event. */
  seq: number;
  at: number;
  entity: Entity | undefined;
  /** Number of the last event that erased words of it. */
  erasedAt: number;
  isDamaged: boolean;
  isInCatalog: boolean;
}

/** Reads the journal once, event by event, and the catalog after it. */
export class JournalCheck {
  readonly #of: Verifying;
  readonly #faults: JournalFault[] = [];
  readonly #streams = new Map<string, StreamState>();
  readonly #lastItems = new Map<string, number>();
  /** Events without their words, until a `text.erased` of their stream names them. */
  readonly #withoutWords = new Map<number, string>();
  readonly #hidden: { from: number; to: number }[] = [];
  /** Last release of each stream. */
  readonly releases = new Map<string, number>();
  /** Undefined behind an event that cannot be read. */
  #before: string | undefined;
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

  /** An event that is there and is not as it was written. What can still be read of it names its stream. */
  addBroken({ seq, stream, event }: BrokenEvent): void {
    if (this.#held !== undefined) this.#check(this.#held, undefined);
    this.#held = undefined;
    this.#fault('changed', seq, stream ?? event?.stream ?? null);
    for (const damaged of [stream, event?.stream]) if (damaged !== undefined) this.#stateOf(damaged).isDamaged = true;
    this.#seq = seq;
    this.#before = undefined;
  }

  /** A fault that only the reader of a store can see. */
  note(fault: FaultKind, seq: number, stream: string | null): void {
    this.#fault(fault, seq, stream);
    if (stream !== null) this.#stateOf(stream).isDamaged = true;
  }

  isDamaged(stream: string): boolean {
    return this.#streams.get(stream)?.isDamaged === true;
  }

  /** Whether words of the stream were erased behind this number. */
  isErasedAfter(stream: string, seq: number): boolean {
    return (this.#streams.get(stream)?.erasedAt ?? 0) > seq;
  }

  /** Ends the journal. Then `addCatalog` takes the catalog, and `end` tells everything. */
  endJournal(): void {
    this.#endEvents();
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
      this.#stateOf(stream).isDamaged = true;
    }
  }

  /** Whether words are gone of events that no `text.erased` named. Called once all events were added. */
  lacksWords(): boolean {
    this.#endEvents();
    return this.#withoutWords.size > 0;
  }

  #endEvents(): void {
    if (this.#held !== undefined) this.#check(this.#held, undefined);
    this.#held = undefined;
  }

  /** What an event `text.erased` names. The host erases while a proof goes on, so the event may lie behind the head of the proof. */
  explain({ kind, seq: erasedAt, stream, data }: Pick<WorkroomEventsTable, 'kind' | 'seq' | 'stream' | 'data'>): void {
    if (kind !== 'text.erased') return;
    this.#stateOf(stream).erasedAt = erasedAt;
    const { seqs } = JSON.parse(data) as { readonly seqs: readonly number[] };
    for (const seq of seqs) if (this.#withoutWords.get(seq) === stream) this.#withoutWords.delete(seq);
  }

  addCatalog(row: CatalogState): void {
    const state = this.#streams.get(row.stream);
    if (state !== undefined) state.isInCatalog = true;
    if (row.applied_seq > this.#seq && this.#of.isMoving === true) return; // changed after the journal was read
    if (this.isErasedAfter(row.stream, this.#seq)) return; // the row is older than the erasure
    if (state?.isDamaged === true) return; // its events are told already
    if (state?.entity === undefined) return this.#fault('catalog_differs', 0, row.stream);
    const { entity, at, seq } = state;
    const folded = catalogRow({ stream: row.stream, entity, at, reminding: { stuckMs: 0, remindMs: 0 } });
    const differs =
      folded.version !== row.version ||
      folded.updated_at !== row.updated_at ||
      seq !== row.applied_seq ||
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
    this.#streams.clear();
    return { ...this.end(), hidden: this.#hidden };
  }

  end(): Verified {
    for (const [stream, { entity, isDamaged, isInCatalog }] of this.#streams)
      if (entity !== undefined && !isDamaged && !isInCatalog) this.#fault('catalog_differs', 0, stream);
    return { head: { seq: this.#seq, hash: this.#before ?? '' }, faults: this.#faults };
  }

  /** Rows of the catalog as the journal has them. Only of a journal without a fault. */
  folded(reminding: Reminding): readonly FoldedRow[] {
    return [...this.#streams].flatMap(([stream, { entity, seq, at }]) => {
      if (entity === undefined) return [];
      const row = catalogRow({ stream, entity, at, reminding });
      return [{ row, entity, appliedSeq: seq, lastItem: this.#lastItems.get(stream) ?? 0 }];
    });
  }

  #folds(): ReadonlyMap<string, Entity> {
    return new Map(
      [...this.#streams].flatMap(([stream, { entity }]) => (entity === undefined ? [] : [[stream, entity]])),
    );
  }

  #check(row: Row, next: Row | undefined): void {
    const at = this.#seq + 1;
    const state = isWhole(row) ? this.#stateOf(row.stream) : undefined;
    if (row.seq !== at) {
      this.#fault('missing', at, null);
      this.#follow(row);
      if (state === undefined) return this.#hide(row.seq);
      state.isDamaged = true;
      return this.#place(row as WorkroomEventsTable, state);
    }
    const digest = isWhole(row) ? digestOf(row) : row.digest;
    const before = this.#before;
    const hash = before === undefined ? row.hash : chainHash(before, row.seq, digest);
    if (digest !== row.digest || hash !== row.hash) {
      const isSwapped = before !== undefined && next !== undefined && chainHash(before, at, next.digest) === next.hash;
      const isOther = at === 1 && digest === row.digest && !isSwapped && this.#goesOn(row, next);
      const stream = isWhole(row) ? row.stream : null;
      this.#fault(isSwapped ? 'reordered' : isOther ? 'foreign' : 'changed', at, stream);
      if (state !== undefined) state.isDamaged = true;
    }
    this.#follow(row);
    if (state === undefined) return this.#hide(row.seq);
    this.#fold(row as WorkroomEventsTable, state);
    const { watch } = this.#of;
    if (watch?.seq === row.seq) watch.see(this.#folds(), row.hash);
  }

  /** Whether what stands behind an event was chained to its hash. */
  #goesOn({ seq, hash }: Row, next: Row | undefined): boolean {
    if (next !== undefined) return chainHash(hash, seq + 1, next.digest) === next.hash;
    return this.#of.head === undefined || this.#of.head.hash === hash;
  }

  #hide(seq: number): void {
    const last = this.#hidden.at(-1);
    if (last?.to === seq - 1) last.to = seq;
    else this.#hidden.push({ from: seq, to: seq });
    if (this.#of.isWhole === true) this.#fault('hidden', seq, null);
  }

  #stateOf(stream: string): StreamState {
    let state = this.#streams.get(stream);
    if (state === undefined) {
      state = { version: 0, seq: 0, at: 0, entity: undefined, erasedAt: 0, isDamaged: false, isInCatalog: false };
      this.#streams.set(stream, state);
    }
    return state;
  }

  /** The chain goes on from what is stored, so that one fault is told once and what lies behind it is looked at. */
  #follow(row: Row): void {
    this.#seq = row.seq;
    this.#before = row.hash;
    const { expect } = this.#of;
    if (expect?.seq === row.seq) this.#expected = expect.hash === row.hash;
  }

  /** One pass over the words and the data of a sound event: the words against their digests, then the fold. */
  #fold(row: WorkroomEventsTable, state: StreamState): void {
    const fact = state.isDamaged ? undefined : this.#soundFact(row, state);
    if (fact !== undefined) this.explain(row);
    this.#place(row, state);
    if (fact === undefined || state.isDamaged) return;
    try {
      const entity = evolveOwn(state.entity, fact);
      state.entity = entity;
      if (fact.kind !== 'item.created' || entity.kind !== 'item') return;
      const board = `board/${entity.item.board}`;
      this.#lastItems.set(board, Math.max(this.#lastItems.get(board) ?? 0, entity.item.number));
    } catch {
      this.#fault('changed', row.seq, row.stream);
      state.isDamaged = true;
    }
  }

  /** Versions of a stream have no hole. */
  #place(row: WorkroomEventsTable, state: StreamState): void {
    if (row.version !== state.version + 1 && !state.isDamaged) {
      this.#fault('reordered', row.seq, row.stream);
      state.isDamaged = true;
    }
    if (row.kind === 'stream.released') this.releases.set(row.stream, row.seq);
    state.version = row.version;
    state.seq = row.seq;
    state.at = row.at;
  }

  /** Undefined if its words are not those that were hashed: the fault is told. */
  #soundFact(row: WorkroomEventsTable, state: StreamState): Fact | undefined {
    const { stream, version, at, actor, data: json } = row;
    const { kind, textFields } = kindOf(row.kind);
    let data: Fact['data'] = {};
    let texts: Fact['texts'] = NO_TEXTS;
    try {
      data = JSON.parse(json) as Fact['data'];
      if (row.texts !== null) texts = openedTexts(row.texts, data);
      for (const field of textFields)
        if (Object.hasOwn(data, field) && !Object.hasOwn(texts, field)) this.#withoutWords.set(row.seq, stream);
    } catch {
      this.#fault('text_changed', row.seq, stream);
      state.isDamaged = true;
      return undefined;
    }
    return { stream, version, kind, at, actor, data, texts };
  }

  #fault(fault: FaultKind, seq: number, stream: string | null): void {
    this.#faults.push({ fault, seq, stream });
  }
}

const NO_TEXTS: Fact['texts'] = {};
const SALT = /^[0-9a-f]{32}$/u;

/** Throws if they are not canonical JSON, or not those whose digests stand in `data`. */
function openedTexts(json: string, data: Fact['data']): Fact['texts'] {
  const sealed = JSON.parse(json) as Readonly<Record<string, SealedText>>;
  const texts: Record<string, string> = {};
  let canonical = '{';
  for (const field of Object.keys(sealed).sort()) {
    const one = sealed[field] as SealedText;
    // The length is fixed: else the beginning of a text could be moved into its salt, under the same digest.
    if (!SALT.test(one.salt) || textDigest(one) !== data[field]) throw new Error(`${field} is not what was hashed`);
    texts[field] = one.text;
    canonical += `${canonical === '{' ? '' : ','}${quoted(field)}:{"salt":"${one.salt}","text":${quoted(one.text)}}`;
  }
  if (json !== `${canonical}}`) throw new Error('not canonical');
  return texts;
}

interface KindOfFact {
  readonly kind: FactKind;
  /** Fields of `data` that hold the digest of a text. */
  readonly textFields: readonly string[];
}

const WITH_TEXTS: readonly (readonly [FactKind, ...string[]])[] = [
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
];
const KINDS = new Map<string, KindOfFact>(WITH_TEXTS.map(([kind, ...textFields]) => [kind, { kind, textFields }]));

/** A kind that is none is refused by `evolve`. */
const kindOf = (kind: string): KindOfFact => KINDS.get(kind) ?? { kind: kind as FactKind, textFields: [] };
