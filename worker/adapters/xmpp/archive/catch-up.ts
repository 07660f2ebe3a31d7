// Places with an archive: from "behind" to "live". One is the account itself, the others are rooms.
//
//   A1  While a place is behind, what comes live is held and let go in order behind what the archive has; twice is once by its id.
//   A2  What is held beyond MOST_HELD is dropped from memory: it is in the archive, which is read to its end.
//   A3  A place whose archive cannot be read goes on live, and its cursor stays where the gap begins until the archive was read.
//   A4  A place that was never seen begins now: its past is no news.
import type { XmlElement } from '@xmpp/client';
import type { Archive, Archived } from './archive.ts';
import type { Mark, Seen } from './cursor.ts';

const MOST_HELD = 500;
const PAGE = 100;

export interface CatchUpOptions {
  readonly archive: Pick<Archive, 'page'>;
  seen(place: string): Seen | undefined;
  /** Takes one message; the mark moves the cursor. */
  take(archived: Archived, mark: Mark): void;
  /** Takes a live one that was held. */
  release(stanza: XmlElement, place: string): void;
  /** Moves the cursor alone. */
  mark(mark: Mark): void;
  /** Resolves when all that was taken is stored. */
  stored(): Promise<void>;
}

interface Place {
  state: 'behind' | 'live';
  /** Its cursor may be moved by what comes live. */
  isWhole: boolean;
  held: XmlElement[];
}

export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #places = new Map<string, Place>();

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** A place with an archive whose past is to be fetched. */
  behind(place: string): void {
    this.#places.set(place, { state: 'behind', isWhole: false, held: [] });
  }

  /** Keeps a live stanza for later (A1). */
  hold(place: string, stanza: XmlElement): boolean {
    const known = this.#places.get(place);
    if (known?.state !== 'behind') return false;
    known.held.push(stanza);
    if (known.held.length > MOST_HELD) known.held.shift();
    return true;
  }

  isWhole(place: string): boolean {
    return this.#places.get(place)?.isWhole ?? true;
  }
  hasArchive(place: string): boolean {
    return this.#places.has(place);
  }

  /** Throws the first failure once all were tried. A place that is closed to us waits until it is open. */
  async run(isOpen: (place: string) => boolean): Promise<void> {
    const failures: unknown[] = [];
    for (const [name, place] of this.#places) {
      if (place.isWhole || !isOpen(name)) continue;
      try {
        await this.#fetch(name);
        place.isWhole = true;
      } catch (error) {
        failures.push(error);
      }
      this.#letGo(name, place);
    }
    await this.#options.stored();
    if (failures.length > 0) throw new Error('the archive could not be read', { cause: failures[0] });
  }

  #letGo(name: string, place: Place): void {
    const { held } = place;
    place.state = 'live';
    place.held = [];
    for (const stanza of held) this.#options.release(stanza, name);
  }

  async #fetch(place: string): Promise<void> {
    const { archive, seen, take, mark, stored } = this.#options;
    const from = seen(place);
    if (from === undefined) {
      const newest = (await archive.page(place, { before: '', most: 1 }))?.items.at(-1);
      mark({ place, at: newest?.at ?? 0, isFirm: true, ...(newest === undefined ? {} : { id: newest.id }) });
      return stored();
    }
    let after = from.id;
    let start = from.id === undefined ? from.at : undefined;
    for (;;) {
      const page = await archive.page(place, {
        most: PAGE,
        ...(after === undefined ? {} : { after }),
        ...(start === undefined ? {} : { start }),
      });
      if (page === undefined) {
        // The id is not in the archive any more: by the time instead.
        [after, start] = [undefined, from.at];
        continue;
      }
      for (const archived of page.items) take(archived, { place, id: archived.id, at: archived.at });
      await stored();
      if (page.isComplete) return;
      if (page.last === after) throw new Error(`the archive of ${place} does not go on`);
      after = page.last;
    }
  }
}
