// Compares the catalog file with the fold of the journal at the event that it names: byte by byte, since a catalog has one spelling.
import { readFileSync } from 'node:fs';
import type { Entity } from '../journal/catalog-rows.ts';
import { canonicalJson } from '../journal/chain.ts';
import type { JournalCheck, Verifying } from '../journal/verify.ts';
import { catalogOfFolds } from './catalog-file.ts';

interface Catalog {
  readonly appliedSeq: number;
}

export class CatalogProof {
  readonly #text: string | undefined;
  readonly #catalog: Partial<Catalog>;
  #folded: string | undefined;

  /** Reads the file as it is now. */
  constructor(path: string) {
    this.#text = read(path);
    this.#catalog = parsed(this.#text ?? '');
    if (this.#catalog.appliedSeq === 0) this.#folded = catalogOfFolds(new Map(), { seq: 0, hash: '' });
  }

  /** For the proof of the journal. */
  get watch(): Verifying['watch'] {
    const { appliedSeq } = this.#catalog;
    if (appliedSeq === undefined) return undefined;
    return {
      seq: appliedSeq,
      see: (folds: ReadonlyMap<string, Entity>, hash) => {
        this.#folded = catalogOfFolds(folds, { seq: appliedSeq, hash });
      },
    };
  }

  /** Notes what differs. Streams with a damaged event are told already. Words that are erased since may still be in the file: it follows. */
  end(check: JournalCheck): void {
    if (this.#text !== undefined && this.#text === this.#folded) return;
    const streams = this.#folded === undefined ? [] : streamsThatDiffer(this.#text ?? '', this.#folded);
    const told = streams.filter(
      (stream) => !check.isDamaged(stream) && !check.isErasedAfter(stream, this.#catalog.appliedSeq ?? 0),
    );
    if (streams.length > 0 && told.length === 0) return;
    for (const stream of told.length === 0 ? [null] : told) check.note('catalog_differs', 0, stream);
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // gone: nothing shows the board
  }
}

function parsed(text: string): Partial<Catalog> & Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    return typeof value['appliedSeq'] === 'number' ? value : {};
  } catch {
    return {};
  }
}

function streamsThatDiffer(text: string, folded: string): readonly string[] {
  const [a, b] = [parsed(text), parsed(folded)];
  const of = (catalog: typeof a, key: string): Record<string, unknown> => {
    const value = catalog[key];
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  };
  const differs = (one: unknown, other: unknown): boolean =>
    canonicalJson(one ?? null) !== canonicalJson(other ?? null);
  const streams = (['boards', 'items'] as const).flatMap((key) => {
    const [mine, theirs] = [of(a, key), of(b, key)];
    const ids = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
    return [...ids].filter((id) => differs(mine[id], theirs[id])).map((id) => `${key.slice(0, -1)}/${id}`);
  });
  return [...(differs(a['members'], b['members']) ? ['team'] : []), ...streams];
}
