// The journal in files. A unit stores its events in the spool; the filer appends them to the last segment, syncs, and takes them out of the spool.
//
//   FILE-JOURNAL-1  An event is in the spool or in a file at any moment, and for a short time in both. The spool is synced with its unit.
//   FILE-JOURNAL-2  `settled` resolves after the sync of the file. Places in the database follow in a unit of their own.
//   FILE-JOURNAL-3  After a failed append or sync nobody gets an answer. The segment is written anew from what was synced (SEGMENT-1), and the
//                   events are appended again from the spool. While that fails, the journal takes no event, and it is tried again each second.
//   FILE-JOURNAL-4  Words are cleared as a turn of the filer: nothing is appended while a segment is written anew. Readers wait for it, and look
//                   for their places again.
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import type { Timer } from '../../../shared/time/clock.ts';
import type { Core } from '../../core/core.ts';
import { sql } from '../../database/statement.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import type { Statement } from '../../database/unit.ts';
import { GUARD } from '../journal/append.ts';
import { hashBeforeFirst } from '../journal/chain.ts';
import { commandsIn, type Journal, type Proving, type SliceAsked } from '../journal/journal.ts';
import type { CommandIdentity } from '../journal/journal-event.ts';
import type { JournalCheck } from '../journal/verify.ts';
import { CatalogFile } from './catalog-file.ts';
import { clearWords, readNotes } from './clear-words.ts';
import { readPlaces, takeOut } from './places.ts';
import { proveFiles } from './prove-files.ts';
import { SegmentWriter, type Tail } from './segment-writer.ts';
import type { Placed } from './segments.ts';

const SLICE = 500;
const AGAIN_MS = 1_000;
const TABLE = 'workroom_events';

export interface FileJournalOptions {
  readonly core: Core;
  readonly folder: string;
  readonly catalogFile: string;
  readonly tail: Tail;
  /** What a start found: nothing is ever appended. */
  readonly damage?: SvcError;
  /** Default 8 MiB. */
  readonly sealedBytes?: number;
}

export class FileJournal implements Journal {
  readonly store = 'file';
  readonly #core: Core;
  readonly #folder: string;
  readonly #writer: SegmentWriter;
  readonly #catalog: CatalogFile;
  /** In a file and still in the spool. */
  #unplaced: Placed[] = [];
  #filing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #taking: Promise<void> | undefined;
  readonly #found: SvcError | undefined;
  #damage: SvcError | undefined;
  #isRetry = false;
  /** The next pass clears erased words. */
  #hasToClear = false;
  #clearing: Promise<void> | undefined;
  /** How often words were cleared, or tried to. */
  #clearings = 0;
  #again: Timer | undefined;
  #unfollow = (): void => {};
  #hasStopped = false;

  constructor({ core, folder, catalogFile, tail, damage, sealedBytes }: FileJournalOptions) {
    this.#found = damage;
    this.#damage = damage;
    this.#core = core;
    this.#folder = folder;
    const more = sealedBytes === undefined ? {} : { sealedBytes };
    this.#writer = new SegmentWriter({ folder, project: core.projectId, point: core.point, ...more }, tail);
    this.#catalog = new CatalogFile(core, catalogFile, (seq) =>
      this.#writer.tail.seq < seq ? this.settled() : undefined,
    );
  }

  /** Completes the files from the spool. From then on they follow each unit, of chats too. */
  async start(): Promise<void> {
    try {
      await this.settled();
      await this.#takeOut();
      await this.clearErased();
    } catch (error) {
      if (this.#damage === undefined) {
        this.#hasStopped = true; // nothing of a start that failed may write later
        this.#again?.cancel();
        throw error;
      }
      // A disk that takes no writes may take them again: then the commands that wait go on without another start.
    }
    await this.#catalog.begin();
    this.#unfollow = this.#core.writer.onHead(() => void this.settled().catch(() => {})); // kept as `#damage`
  }

  /** Completes the files. */
  async stop(): Promise<void> {
    this.#unfollow();
    this.#hasStopped = true;
    this.#again?.cancel();
    if (this.#found !== undefined) return;
    try {
      await this.#pass(true);
      await this.#takeOut();
      await this.#catalog.write();
    } finally {
      this.#catalog.stop();
      await this.#writer.close();
    }
  }

  into(statements: readonly Statement[], { id }: CommandIdentity): readonly Statement[] {
    // Ids are unique over spool and files.
    const isNew = { sql: NOT_FILED, parameters: [`${id}/1`], expect: 1, guard: GUARD };
    return [isNew, ...statements.map((one) => ({ ...one, sql: spooled(one.sql) }))];
  }

  get damage(): SvcError | undefined {
    return this.#damage;
  }

  settled(): Promise<void> {
    return this.#pass(false);
  }

  /** Appends what is in the spool now. Calls that come during a pass share the next one. After a failure only a retry begins one. */
  #pass(isRetry: boolean): Promise<void> {
    if (this.#found !== undefined) return Promise.reject(this.#found);
    this.#isRetry ||= isRetry;
    this.#next ??= (this.#filing ?? Promise.resolve())
      .catch(() => {}) // its callers were told
      .then(() => {
        this.#filing = this.#next;
        this.#next = undefined;
        return this.#file();
      });
    return this.#next;
  }

  async #file(): Promise<void> {
    if (this.#damage !== undefined && !this.#isRetry) throw this.#damage;
    this.#isRetry = false;
    try {
      await this.#writer.mend();
      for (;;) {
        const events = await this.#spool(this.#writer.tail.seq);
        if (events.length === 0) break;
        for (let left = events; left.length > 0; ) {
          const placed = await this.#writer.append(left);
          this.#unplaced.push(...placed);
          left = left.slice(placed.length);
        }
      }
    } catch (error) {
      throw this.#failed(error);
    }
    if (this.#damage !== undefined) this.#core.log.info({}, 'the files of the Workroom are complete again');
    this.#damage = undefined;
    if (this.#hasToClear) {
      this.#hasToClear = false;
      this.#clearings += 1;
      this.#clearing = this.#clear();
      await this.#clearing.catch(() => {}); // `clearErased` throws it
    }
    void this.#takeOut().catch(() => {}); // tried again with the next events
    this.#catalog.changed();
  }

  /** Takes words out of the files that a unit has noted as erased, then writes the catalog file. Throws while that fails; the note stays. */
  async clearErased(): Promise<void> {
    const { reader } = this.#core;
    if ((await readNotes(reader)).length === 0) return;
    try {
      this.#hasToClear = true;
      await this.#pass(false);
      await this.#clearing;
      await this.#catalog.write();
    } catch (error) {
      throw new SvcError('journal_damaged', `words are erased, and still in the files: ${messageOf(error)}`, {
        cause: error,
        hint: 'the same command again takes them out, or the next start of the host',
      });
    }
  }

  async #clear(): Promise<void> {
    await this.#takeOut(); // places are of the lines as they are
    await clearWords(this.#core, this.#writer);
  }

  #failed(error: unknown): SvcError {
    const known =
      error instanceof SvcError
        ? error
        : new SvcError('journal_damaged', `the files of the journal take no writes: ${messageOf(error)}`, {
            cause: error,
            hint: 'no event is lost: the database keeps them. Mend the disk; the host tries again each second',
            details: { retryAfterMs: AGAIN_MS },
          });
    if (this.#damage === undefined) this.#core.log.error({ err: error }, 'the files of the Workroom take no writes');
    this.#damage = known;
    this.#again?.cancel();
    if (!this.#hasStopped)
      this.#again = this.#core.clock.after(AGAIN_MS, () => void this.#pass(true).catch(() => {}), { background: true });
    return known;
  }

  #spool(after: number): Promise<WorkroomEventsTable[]> {
    return this.#core.reader.all(
      sql.selectFrom('workroom_spool').selectAll().where('seq', '>', after).orderBy('seq').limit(SLICE),
    );
  }

  /** Notes the places of filed events and takes them out of the spool, in one unit. */
  async #takeOut(): Promise<void> {
    while (this.#unplaced.length > 0 && !(await this.#isTaking())) {
      const placed = this.#unplaced.slice(0, SLICE);
      const { fence, writer } = this.#core;
      this.#taking = writer
        .commit({ name: 'workroom.filed', statements: takeOut(placed), ...(fence === undefined ? {} : { fence }) })
        .then((answer) => {
          if (answer.kind === 'refused') throw new Error(`places were refused: ${answer.detail}`);
          this.#unplaced.splice(0, placed.length);
        })
        .finally(() => {
          this.#taking = undefined;
        });
      await this.#taking;
    }
  }

  /** Waits for a unit that is under way. */
  async #isTaking(): Promise<boolean> {
    while (this.#taking !== undefined) await this.#taking.catch(() => {});
    return this.#unplaced.length === 0;
  }

  async slice(asked: SliceAsked): Promise<readonly WorkroomEventsTable[]> {
    for (;;) {
      const before = this.#clearings;
      await this.#clearing?.catch(() => {});
      try {
        return await this.#read(asked);
      } catch (error) {
        if (before === this.#clearings) throw error; // else a segment was written anew meanwhile
      }
    }
  }

  async #read({ after, limit, stream }: SliceAsked): Promise<readonly WorkroomEventsTable[]> {
    let spool = sql.selectFrom('workroom_spool').selectAll().where('seq', '>', after).orderBy('seq').limit(limit);
    let places = sql.selectFrom('workroom_places').selectAll().where('seq', '>', after).orderBy('seq').limit(limit);
    if (stream !== undefined) {
      spool = spool.where('stream', '=', stream);
      places = places.where('stream', '=', stream);
    }
    // The spool first: an event that moves meanwhile is read twice, never missed.
    const waiting = await this.#core.reader.all(spool);
    const filed = readPlaces(this.#folder, await this.#core.reader.all(places));
    const last = filed.at(-1)?.seq ?? 0;
    const hasMore = filed.length === limit;
    return [...filed, ...(hasMore ? [] : waiting.filter(({ seq }) => seq > last))].slice(0, limit);
  }

  async byId(id: string): Promise<Pick<WorkroomEventsTable, 'stream' | 'version'> | undefined> {
    const { reader } = this.#core;
    const spool = sql.selectFrom('workroom_spool').select(['stream', 'version']).where('id', '=', id);
    const places = sql.selectFrom('workroom_places').select(['stream', 'version']).where('id', '=', id);
    return (await reader.first(spool)) ?? (await reader.first(places));
  }

  async commands(after: number, until: number): Promise<number> {
    const { reader } = this.#core;
    const first = await reader.first(sql.selectFrom('workroom_spool').select('seq').orderBy('seq').limit(1));
    const filed = Math.min(until, (first?.seq ?? until + 1) - 1);
    const places = await reader.first(commandsIn('workroom_places', after, filed));
    const spool = await reader.first(commandsIn('workroom_spool', Math.max(after, filed), until));
    return (places?.n ?? 0) + (spool?.n ?? 0);
  }

  async prove(check: JournalCheck, { head, pause }: Proving): Promise<void> {
    const { reader, projectId } = this.#core;
    const spool = await reader.all(
      sql.selectFrom('workroom_spool').selectAll().where('seq', '<=', head.seq).orderBy('seq'),
    );
    const slices = proveFiles(check, {
      folder: this.#folder,
      project: projectId,
      root: hashBeforeFirst(projectId),
      upTo: head.seq,
      spool,
    });
    for (const _ of slices) await pause();
  }

  /** Head of what the files hold. */
  get tail(): Tail {
    return this.#writer.tail;
  }
}

const NOT_FILED = 'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM workroom_places WHERE id = ?)';
const texts = new Map<string, string>();

/** A statement of `append.ts` for the spool, which has the same columns. */
function spooled(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  const other = text.replaceAll(TABLE, 'workroom_spool');
  texts.set(text, other);
  return other;
}
