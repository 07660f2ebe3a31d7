// Retention of files. Saved files stay for `files.days` after their last save. Copies of files on platforms stay as long as the texts of messages
// (`inbox.bodyDays`), if that is shorter. Both stay while stored data names them.
//
//   MEDIA-1  A file is removed after two passes in a row found it past its days and named by nothing. Names are looked for in stored messages, open
//            items, tasks, buttons, dialogs and state. A copy may also be named by its platform's id. A reference that moves during one pass is seen
//            by the next.
//   MEDIA-2  Files without a row that a crash left (partial, or not noted yet) are removed after a day.
//   MEDIA-3  A pass looks at a limited number of files, oldest first. If it found some to remove, the next pass looks at the same ones. Then passes
//            go on behind them, and begin with the oldest again after the last.
import { sql as raw } from 'kysely';
import { messageOf } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { sql } from '../database/statement.ts';
import type { MediaFolder } from './file-store.ts';

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
const MOST = 20_000;
const PAGE = 200;
const DIGESTS = /[0-9a-f]{64}/g;
const STRINGS = /"(?:[^"\\]|\\.)*"/g;

/** Texts that may name a file, with the key by which they are read in pages. */
const TEXTS = [
  { table: 'outbox', text: 'body', key: ['seq'], where: raw<boolean>`body IS NOT NULL` },
  { table: 'inbox', text: 'body', key: ['seq'], where: raw<boolean>`state <> 'done' AND body IS NOT NULL` },
  { table: 'due', text: 'data', key: ['seq'], where: raw<boolean>`TRUE` },
  { table: 'buttons', text: 'data', key: ['token'], where: raw<boolean>`TRUE` },
  { table: 'dialogs', text: 'data', key: ['owner'], where: raw<boolean>`TRUE` },
  { table: 'once_results', text: 'value', key: ['item_id', 'handler', 'step'], where: raw<boolean>`value IS NOT NULL` },
  { table: 'cells', text: 'value', key: ['store', 'owner', 'key'], where: raw<boolean>`TRUE` },
] as const;

interface Place {
  readonly id: string;
  readonly created_at: number;
}
interface Old extends Place {
  readonly fetched_at: number | null;
}
/** Epoch ms: younger files are kept. */
interface Bounds {
  readonly saved: number;
  readonly fetched: number;
}
export interface FilesKept {
  readonly days: () => number;
  /** For copies of files on platforms; never more than `days`. Default: `days`. */
  readonly copyDays?: () => number;
  /** Number of files in one pass. */
  readonly most?: number | undefined;
}
interface Names {
  readonly ids: Set<string>;
  readonly bySource: Sources;
}
/** Ids of files by the platform's name: several if two accounts use the same name. */
type Sources = ReadonlyMap<string, readonly string[]>;
type Row = { readonly text: string } & Readonly<Record<string, unknown>>;

export class MediaRetention {
  readonly #core: Core;
  readonly #folder: MediaFolder;
  readonly #days: () => number;
  readonly #copyDays: () => number;
  readonly #most: number;
  /** On the monotonic clock. */
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Named by nothing in the pass before, which looked at the same files. */
  #unnamed: ReadonlySet<string> = new Set();
  /** The last file that is done with (MEDIA-3). */
  #behind: Place | undefined;

  constructor(core: Core, folder: MediaFolder, { days, copyDays = days, most = MOST }: FilesKept) {
    this.#core = core;
    this.#folder = folder;
    this.#days = days;
    this.#copyDays = copyDays;
    this.#most = most;
  }

  /** One pass, at most once an hour. Ages are counted to `now`. Never throws. */
  async run(now: number): Promise<void> {
    const at = this.#core.clock.monotonic();
    if (at < this.#nextAt) return;
    this.#nextAt = at + EVERY_MS;
    try {
      await this.#pass(now);
    } catch (error) {
      this.#core.log.warn({ error: messageOf(error) }, 'files past their days could not be removed');
    }
  }

  async #pass(now: number): Promise<void> {
    const [days, copyDays] = [this.#days(), this.#copyDays()];
    const bounds = { saved: now - days * DAY_MS, fetched: now - Math.min(days, copyDays) * DAY_MS };
    const old = await this.#olderThan(bounds);
    const unnamed = await this.#unnamedOf(await this.#namesOf(old));
    let removed = 0;
    for (const { id, created_at, fetched_at } of old)
      if (unnamed.has(id) && this.#unnamed.has(id))
        removed += (await this.#folder.remove(id, fetched_at === created_at ? bounds.fetched : bounds.saved)) ? 1 : 0;
    const isDone = this.#unnamed.size > 0 || unnamed.size === 0;
    if (isDone) this.#behind = old.length < this.#most ? undefined : old.at(-1);
    this.#unnamed = isDone ? new Set() : unnamed;
    const orphans = await this.#folder.removeOrphans(now - DAY_MS);
    if (removed + orphans > 0) this.#core.log.info({ removed, orphans }, 'files past their days removed');
  }

  #olderThan({ saved, fetched }: Bounds): Promise<Old[]> {
    const { id, created_at } = this.#behind ?? { id: '', created_at: Number.MIN_SAFE_INTEGER };
    const old = sql
      .selectFrom('files')
      .select(['id', 'created_at', 'fetched_at'])
      .where(({ eb, or }) =>
        or([eb('created_at', '<', saved), eb('created_at', '<', fetched).and('fetched_at', '=', eb.ref('created_at'))]),
      );
    return this.#core.reader.all(
      old
        .where(({ eb, refTuple, tuple }) => eb(refTuple('created_at', 'id'), '>', tuple(created_at, id)))
        .orderBy('created_at')
        .orderBy('id')
        .limit(this.#most),
    );
  }

  /** The names of the files in texts: digests, and for copies the platform's ids, with and without the account. */
  async #namesOf(old: readonly Old[]): Promise<Names> {
    const ids = new Set(old.map(({ id }) => id));
    const bySource = new Map<string, readonly string[]>();
    for (let from = 0; from < old.length; from += PAGE) {
      const some = old.slice(from, from + PAGE).map(({ id }) => id);
      const query = sql.selectFrom('fetched_files').selectAll().where('id', 'in', some);
      for (const { source, id } of await this.#core.reader.all(query))
        for (const name of [source, source.slice(source.indexOf('|') + 1)])
          bySource.set(name, [...(bySource.get(name) ?? []), id]);
    }
    return { ids, bySource };
  }

  /** The files that no stored text names. Reads in pages, with a turn of the event loop between two. */
  async #unnamedOf({ ids, bySource }: Names): Promise<ReadonlySet<string>> {
    for (const source of TEXTS) {
      let after: readonly unknown[] | undefined;
      while (ids.size > 0) {
        const rows = await this.#page(source, after);
        for (const id of rows.flatMap(({ text }) => idsIn(text, bySource))) ids.delete(id);
        const last = rows.at(-1);
        if (rows.length < PAGE || last === undefined) break;
        after = source.key.map((_, index) => last[`k${index}`]);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return ids;
  }

  #page({ table, text, key, where }: (typeof TEXTS)[number], after: readonly unknown[] | undefined): Promise<Row[]> {
    const columns = key.map((name, index) => raw`${raw.ref(name)} AS ${raw.ref(`k${index}`)}`);
    const names = raw.join(key.map((name) => raw.ref(name)));
    const from = after === undefined ? raw`TRUE` : raw`(${names}) > (${raw.join(after)})`;
    const query = raw`SELECT ${raw.ref(text)} AS text, ${raw.join(columns)} FROM ${raw.table(table)} WHERE ${where} AND ${from} ORDER BY ${names} LIMIT ${PAGE}`;
    return this.#core.reader.all<Row>({
      compile: () => query.compile(sql),
      execute: () => Promise.reject(new Error('run by a Reader')),
    });
  }
}

/** Stored texts are JSON, which escapes quotes and backslashes: strings are parsed before they are compared. */
const idsIn = (text: string, bySource: Sources): readonly string[] => [
  ...(text.match(DIGESTS) ?? []),
  ...(bySource.size === 0 ? [] : (text.match(STRINGS) ?? [])).flatMap(
    (written) => bySource.get(unquoted(written)) ?? [],
  ),
];

function unquoted(written: string): string {
  try {
    return String(JSON.parse(written));
  } catch {
    return ''; // no JSON, so no name of a file
  }
}
