// Journals to measure: one of the Workroom, filled by its own appends in large groups, and a bare table of the same events.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { newRuntimeId } from '../../../shared/identifiers.ts';
import { noFailpoint } from '../../../shared/process/failpoints.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { systemClock } from '../../../shared/time/clock.ts';
import type { Core } from '../../../worker/core/core.ts';
import { loadProjectState } from '../../../worker/database/project-state.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter, inlineRunner } from '../../../worker/database/writer.ts';
import type { WorkCommand } from '../../../worker/workroom/board/commands.ts';
import { decide } from '../../../worker/workroom/board/decide.ts';
import type { Fact, View } from '../../../worker/workroom/board/model.ts';
import { append } from '../../../worker/workroom/journal/append.ts';
import { chainHash } from '../../../worker/workroom/journal/chain.ts';
import { journalEvent } from '../../../worker/workroom/journal/journal-event.ts';
import { readView } from '../../../worker/workroom/read-catalog.ts';
import { Workroom } from '../../../worker/workroom/workroom.ts';

const AT_ONCE = 64;
/** Items that are measured, each half for itself. None is touched twice in a group. */
const TOUCHED = 500;
/** Events of an item while a journal is filled. */
const EVENTS_OF_AN_ITEM = 20;
const FILL_GROUP = 512;
const HOUR_MS = 3_600_000;
const SETTINGS = { stuckMs: 72 * HOUR_MS, remindMs: HOUR_MS, maxTextBytes: 16_384 };
const ACTOR = { id: 'token:bench', member: undefined, isOperator: true };

/** A deadline that moves, and words: half of the events have a text. Neither makes an item larger. */
const change = (item: string, turn: number, round: number): WorkCommand =>
  round % 2 === 0
    ? { kind: 'due', item, due: turn }
    : { kind: 'edit', item, title: `A title of some forty characters, ${turn}` };

export class Journal {
  readonly file: string;
  readonly #core: Core;
  readonly #writerCore: WriterCore;
  readonly #reader: SqliteReader;
  readonly #workroom: Workroom;
  /** Views of the items that are appended to. */
  #views: View[] = [];
  #items: string[] = [];
  /** Items are touched in their order, as the bare table has them. */
  #turn = 0;
  #appended = 0;
  #units = 0;
  #groups = 0;

  private constructor(file: string) {
    this.file = file;
    this.#writerCore = new WriterCore({ file, now: Date.now });
    this.#writerCore.open();
    const committed = (units: number): void => {
      this.#units += units;
      this.#groups += 1;
    };
    const writer = new GroupingWriter(inlineRunner(this.#writerCore), { committed });
    this.#reader = new SqliteReader(() => openReadOnly(file));
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const core = { runtimeId: newRuntimeId(), clock: systemClock, writer, reader: this.#reader, log };
    this.#core = { ...core, projectId: '', point: noFailpoint } as unknown as Core;
    this.#workroom = new Workroom(this.#core, () => SETTINGS, { due: () => {} });
  }

  static async open(folder: string): Promise<Journal> {
    mkdirSync(folder, { recursive: true });
    const journal = new Journal(join(folder, 'data.sqlite'));
    await loadProjectState(journal.#core.writer, journal.#reader);
    await journal.#act({ kind: 'board.add', board: 'web', name: 'Web' });
    return journal;
  }

  /** Mean number of units in a group, while it was measured. */
  get groupSize(): number {
    return this.#units / this.#groups;
  }

  /** Appends so many events by decisions of their own, in large groups: syncs are few. */
  async fill(events: number): Promise<void> {
    const items = Math.max(2 * TOUCHED, Math.floor(events / EVENTS_OF_AN_ITEM));
    const ofAnItem = Math.floor(events / items);
    const base = await readView(this.#reader, { kind: 'look' });
    let views: View[] = [];
    const units: Unit[] = [];
    const add = (view: View, command: WorkCommand): View => {
      const planned = this.#append(view, command);
      units.push(planned.unit);
      if (units.length >= FILL_GROUP) this.#run(units.splice(0));
      return planned.view;
    };
    let left = events;
    for (let from = 0; from < items && left > 0; from += TOUCHED) {
      const count = Math.min(TOUCHED, items - from);
      views = Array.from({ length: count }, (_, index) => {
        left -= 1;
        return add({ ...base, lastItems: { web: from + index } }, { kind: 'new', board: 'web', title: 'An item' });
      });
      const rounds = from + TOUCHED >= items ? Number.POSITIVE_INFINITY : ofAnItem;
      for (let round = 1; round < rounds && left > 0; round += 1)
        for (let index = 0; index < count && left > 0; index += 1) {
          left -= 1;
          views[index] = add(views[index] as View, change(`web-${from + index + 1}`, this.#turn, round));
        }
    }
    this.#run(units);
    // Work goes on at the newest items. Such from all over a large catalog lie on a page each: a group then writes three times as much.
    this.#items = Array.from({ length: 2 * TOUCHED }, (_, index) => `web-${1 + index + items - 2 * TOUCHED}`);
    this.#views = [];
    for (const item of this.#items) this.#views.push(await readView(this.#reader, { kind: 'look', item }));
    this.#units = 0;
    this.#groups = 0;
  }

  /** The statements of `append()` through the writer, 64 units at a time. */
  append(count: number): Promise<void> {
    return sideBySide(count, async () => {
      const at = this.#turn % TOUCHED;
      const { view, unit } = this.#append(this.#views[at] as View, this.#change(at));
      const answer = await this.#core.writer.commit(unit);
      if (answer.kind === 'refused') throw new Error(answer.detail);
      this.#views[at] = view;
    });
  }

  /** Whole commands, 64 at a time. */
  command(count: number): Promise<void> {
    return sideBySide(count, () => this.#act(this.#change(TOUCHED + (this.#turn % TOUCHED))));
  }

  async close(): Promise<void> {
    this.#reader.close();
    this.#writerCore.close();
  }

  #change(at: number): WorkCommand {
    this.#turn += 1;
    return change(this.#items[at] as string, this.#turn, Math.floor(this.#turn / TOUCHED));
  }

  #append(before: View, command: WorkCommand): { readonly view: View; readonly unit: Unit } {
    this.#appended += 1;
    const decision = decide(command, { view: before, actor: ACTOR, now: Date.now() });
    if (decision.kind === 'refused') throw new Error(decision.reason);
    const identity = { id: `append/${this.#appended}`, cause: null };
    const { statements, view } = append(before, decision.facts, { command: identity, reminding: SETTINGS });
    return { view, unit: { name: 'bench', statements } };
  }

  #run(units: readonly Unit[]): void {
    for (const answer of this.#writerCore.run(units).answers)
      if (answer.kind === 'refused') throw new Error(answer.detail);
  }

  async #act(command: WorkCommand): Promise<void> {
    this.#turn += 1;
    const identity = { id: `command/${this.#turn}`, cause: null };
    const outcome = await this.#workroom.do(command, { actor: ACTOR, command: identity });
    if (outcome.kind === 'refused') throw new Error(outcome.reason);
  }
}

async function sideBySide(count: number, act: () => Promise<void>): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await act();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** The table of events alone, and no more than an insert needs. */
export class RawJournal {
  readonly #database: Database;
  #seq = 0;
  #hash = '';

  constructor(file: string) {
    this.#database = new Sqlite(file);
    this.#database.pragma('page_size = 8192');
    this.#database.pragma('journal_mode = WAL');
    this.#database.pragma('synchronous = FULL');
    this.#database.exec(`CREATE TABLE events (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, stream TEXT NOT NULL,
      version INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, cause TEXT, data TEXT NOT NULL, texts TEXT,
      digest TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE (stream, version)) STRICT`);
  }

  insert(count: number, groupSize: number): void {
    const insert = this.#database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    for (let done = 0; done < count; ) {
      const end = Math.min(count, done + Math.round(groupSize));
      this.#database.exec('BEGIN IMMEDIATE');
      for (; done < end; done += 1) {
        this.#seq += 1;
        const { id, stream, version, kind, at, actor, cause, data, texts, digest } = journalEvent(
          factAt(this.#seq),
          0,
          { id: `raw/${this.#seq}`, cause: null },
        );
        this.#hash = chainHash(this.#hash, this.#seq, digest);
        insert.run(this.#seq, id, stream, version, kind, at, actor, cause, data, texts, digest, this.#hash);
      }
      this.#database.exec('COMMIT');
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** As `change` makes them. */
function factAt(seq: number): Fact {
  const version = 1 + Math.floor(seq / TOUCHED);
  const base = { stream: `item/web-${1 + (seq % TOUCHED)}`, version, at: Date.now(), actor: ACTOR.id };
  return version % 2 === 0
    ? { ...base, kind: 'item.due_set', data: { due: seq }, texts: {} }
    : {
        ...base,
        kind: 'item.edited',
        data: { title: '' },
        texts: { title: `A title of some forty characters, ${seq}` },
      };
}
