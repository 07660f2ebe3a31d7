// How long files are kept: saved ones `files.days` after they were last saved, copies of what people sent as long as the texts of messages
// (`inbox.bodyDays`), where that is shorter; both longer while anything stored names them.
//
//   M1  A file is removed when two passes in a row have found it past its days and named by nothing: no message that is stored, no
//       item that is not done, no task, button, dialog or state; a copy by its platform's id as well. A reference that moves while a pass looks is seen by the next one.
//   M2  What a crash left in the folder without a row (a file half written, or written and not noted) goes after a day.
//   M3  A pass looks at so many, oldest first; where it has found some to remove the next pass looks at the same ones. Then it goes on behind
//       them, and from the oldest again once it has seen all.
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

/** Where a text may name a file: how to read it in pages, after the key of the last row. */
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
/** Epoch ms: what is younger is kept. */
interface Bounds {
  readonly saved: number;
  readonly fetched: number;
}
export interface FilesKept {
  readonly days: () => number;
  /** Of copies of what lies on a platform; never more than `days`. Default: `days`. */
  readonly copyDays?: () => number;
  /** Looked at in one pass. */
  readonly most?: number | undefined;
}
interface Names {
  readonly ids: Set<string>;
  readonly bySource: Sources;
}
/** Files by what a platform calls them: several where two accounts use the same id. */
type Sources = ReadonlyMap<string, readonly string[]>;
type Row = { readonly text: string } & Readonly<Record<string, unknown>>;

export class MediaRetention {
  readonly #core: Core;
  readonly #folder: MediaFolder;
  readonly #days: () => number;
  readonly #copyDays: () => number;
  readonly #most: number;
  /** Monotonic. */
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Named by nothing at the pass before, which looked at the same ones. */
  #unnamed: ReadonlySet<string> = new Set();
  /** The last of those that are done with (M3). */
  #behind: Place | undefined;

  constructor(core: Core, folder: MediaFolder, { days, copyDays = days, most = MOST }: FilesKept) {
    this.#core = core;
    this.#folder = folder;
    this.#days = days;
    this.#copyDays = copyDays;
    this.#most = most;
  }

  /** One pass, at most once an hour; `now` is the time by which things are kept. Never throws. */
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

  /** What a text calls them: their digests; those that are copies also as their platforms do, with the account before it or without. */
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

  /** Those of the files that no stored text names. Reads in pages, with a turn of the loop between two. */
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

/** Stored texts are JSON: a source that holds a quote or a backslash is written otherwise there. */
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
    return ''; // no JSON, then no name of ours either
  }
}
