// Reads the archives of the account and its rooms after an absence. Each archive is "behind" until it is read, then "live".
//
//   XMPP-CATCH-UP-1  While an archive is behind, live messages are held and released after the archived ones. Duplicates have the same id.
//   XMPP-CATCH-UP-2  Held messages beyond MOST_HELD are dropped from memory, because the archive contains them and is read to its end.
//   XMPP-CATCH-UP-3  If an archive cannot be read, the conversation goes live. The cursor stays at the start of the gap until a read succeeds.
//   XMPP-CATCH-UP-4  A new conversation starts at the present. Past messages are not read.
import type { XmlElement } from '@xmpp/client';
import type { Archive, Archived } from './archive.ts';
import type { Mark, Seen } from './cursor.ts';

const MOST_HELD = 500;
const PAGE = 100;

export interface CatchUpOptions {
  readonly archive: Pick<Archive, 'page'>;
  seen(place: string): Seen | undefined;
  /** Takes one archived message. The mark advances the cursor. */
  take(archived: Archived, mark: Mark): void;
  /** Takes a live message that was held. */
  release(stanza: XmlElement, place: string): void;
  /** Advances the cursor without a message. */
  mark(mark: Mark): void;
  /** Resolves when all taken messages are stored. */
  stored(): Promise<void>;
}

interface Place {
  state: 'behind' | 'live';
  /** Whether live messages may advance its cursor. */
  isWhole: boolean;
  held: XmlElement[];
}

export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #places = new Map<string, Place>();

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** Starts reading an archive: live messages are held until it is read. */
  behind(place: string): void {
    this.#places.set(place, { state: 'behind', isWhole: false, held: [] });
  }

  /** Holds a live message while the archive is behind. False if the message must be processed now. */
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

  /** Reads all archives and throws the first failure afterwards. A room that is not joined is skipped until it is. */
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
        // The archive no longer has the id, so the time is used.
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
