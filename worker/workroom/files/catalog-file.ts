// `.svc/workroom-catalog.json`: the board as the journal has it, for people and other programs. Written whole, every five seconds at most.
import { closeSync, openSync, readSync } from 'node:fs';
import { writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { messageOf } from '../../../shared/svc-error.ts';
import type { Timer } from '../../../shared/time/clock.ts';
import type { Core } from '../../core/core.ts';
import type { Reader } from '../../database/unit.ts';
import type { Team } from '../board/model.ts';
import type { Entity } from '../journal/catalog-rows.ts';
import { canonicalJson } from '../journal/chain.ts';
import { type Head, readHead } from '../read-catalog.ts';

const EVERY_MS = 5_000;
/** A large board is written less often: writing takes a twentieth of the time at most. */
const SHARE = 20;

export interface CatalogText {
  readonly head: Head;
  readonly members: string;
  /** Canonical JSON by id, in order. */
  readonly boards: readonly (readonly [string, string])[];
  readonly items: readonly (readonly [string, string])[];
}

export function catalogText({ head, members, boards, items }: CatalogText): string {
  const object = (entries: CatalogText['items']): string =>
    `{${entries.map(([id, json]) => `${JSON.stringify(id)}:${json}`).join(',')}}`;
  return `{"appliedSeq":${head.seq},"boards":${object(boards)},"headHash":"${head.hash}","items":${object(items)},"members":${members},"version":1}\n`;
}

/** The text for a fold of the journal up to this head. */
export function catalogOfFolds(folds: ReadonlyMap<string, Entity>, head: Head): string {
  const of = (kind: string): [string, string][] =>
    [...folds]
      .filter(([stream]) => stream.startsWith(`${kind}/`))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([stream, entity]) => [stream.slice(kind.length + 1), canonicalJson(valueOf(entity))]);
  const team = folds.get('team');
  const members = canonicalJson(team?.kind === 'team' ? team.team.members : {});
  return catalogText({ head, members, boards: of('board'), items: of('item') });
}

const valueOf = (entity: Entity): unknown =>
  entity.kind === 'team' ? entity.team : entity.kind === 'board' ? entity.board : entity.item;

/** One statement, so that rows and head are of one moment. */
const ALL = `SELECT stream, data, head.seq, head.hash FROM workroom_head AS head
  LEFT JOIN workroom_catalog ON true WHERE head.id = 1 ORDER BY stream`;

interface Row extends Head {
  readonly stream: string | null;
  readonly data: string | null;
}

async function readCatalogText(reader: Reader): Promise<{ readonly text: string; readonly head: Head }> {
  const rows = await reader.all<Row>({
    compile: () => ({ sql: ALL, parameters: [] }),
    execute: () => Promise.reject(new Error('a Reader runs it')),
  });
  const of = (kind: string): [string, string][] =>
    rows.flatMap(({ stream, data }) =>
      stream?.startsWith(`${kind}/`) === true ? [[stream.slice(kind.length + 1), data ?? '']] : [],
    );
  const team = rows.find(({ stream }) => stream === 'team')?.data;
  const members = canonicalJson(team == null ? {} : (JSON.parse(team) as Team).members);
  const { seq = 0, hash = '' } = rows[0] ?? {};
  return {
    text: catalogText({ head: { seq, hash }, members, boards: of('board'), items: of('item') }),
    head: { seq, hash },
  };
}

export class CatalogFile {
  readonly #core: Core;
  readonly #path: string;
  /** Resolves once the files of the journal hold this number: the catalog never shows more than they do. */
  readonly #filed: (seq: number) => Promise<void> | undefined;
  #written = -1;
  #nextAt = 0;
  #timer: Timer | undefined;
  #hasStopped = false;
  /** Writes follow each other, so that an older text never takes the place of a newer one. */
  #writing: Promise<void> = Promise.resolve();

  constructor(core: Core, path: string, filed: (seq: number) => Promise<void> | undefined) {
    this.#core = core;
    this.#path = path;
    this.#filed = filed;
  }

  /** The journal has grown: the file follows within five seconds. */
  changed(): void {
    if (this.#timer !== undefined || this.#hasStopped) return;
    const wait = Math.max(0, this.#nextAt - this.#core.clock.monotonic());
    this.#timer = this.#core.clock.after(wait, () => void this.#writeLater(), { background: true });
  }

  /** Writes the file, unless it is that of the head already. One that cannot be written is tried again: the journal does not need it. */
  async begin(): Promise<void> {
    const { seq } = await readHead(this.#core.reader);
    if (appliedIn(this.#path) === seq) this.#written = seq;
    await this.#writeLater();
  }

  stop(): void {
    this.#hasStopped = true;
    this.#timer?.cancel();
  }

  async #writeLater(): Promise<void> {
    this.#timer = undefined;
    try {
      await this.write();
    } catch (error) {
      this.#core.log.warn({ error: messageOf(error) }, 'the catalog file of the Workroom could not be written');
      this.#nextAt = this.#core.clock.monotonic() + EVERY_MS;
      this.changed();
    }
  }

  /** Writes it now, if it is not that of the head. */
  write(): Promise<void> {
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => {}); // its caller was told
    return written;
  }

  async #write(): Promise<void> {
    const { clock, reader } = this.#core;
    const startedAt = clock.monotonic();
    if ((await readHead(reader)).seq === this.#written) return;
    const { text, head } = await readCatalogText(reader);
    await this.#filed(head.seq);
    writeFileAtomic(this.#path, text);
    this.#written = head.seq;
    this.#nextAt = clock.monotonic() + Math.max(EVERY_MS, SHARE * (clock.monotonic() - startedAt));
  }
}

const BEGINNING_BYTES = 64;

/** The event that a catalog file names at its beginning. Undefined without one. */
function appliedIn(path: string): number | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const beginning = Buffer.alloc(BEGINNING_BYTES);
    readSync(file, beginning);
    const [, seq] = /^\{"appliedSeq":(\d+),/.exec(beginning.toString('latin1')) ?? [];
    return seq === undefined ? undefined : Number(seq);
  } catch {
    return undefined; // none yet
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
