// The journal as the Workroom uses it. Where its events are kept is the store's own matter.
import type { SvcError } from '../../../shared/svc-error.ts';
import { preparedRead, sql } from '../../database/statement.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import type { Reader, Statement } from '../../database/unit.ts';
import type { Head } from '../read-catalog.ts';
import type { CommandIdentity } from './journal-event.ts';
import type { JournalCheck } from './verify.ts';

export type JournalStore = 'database' | 'file';

export interface SliceAsked {
  /** Events behind this number. */
  readonly after: number;
  readonly limit: number;
  readonly stream?: string | undefined;
}

/** Reads the journal, wherever its events are kept. */
export interface JournalSource {
  readonly store: JournalStore;
  /** In order of `seq`. Throws `journal_damaged` at an event that cannot be read. */
  slice(asked: SliceAsked): Promise<readonly WorkroomEventsTable[]>;
  /** The event of this id. */
  byId(id: string): Promise<Pick<WorkroomEventsTable, 'stream' | 'version'> | undefined>;
  /** Number of accepted commands of the events behind `after`, up to `until`. What the host does at a deadline is none. */
  commands(after: number, until: number): Promise<number>;
  /** Hands everything up to the head to a proof. `pause` is awaited between slices. */
  prove(check: JournalCheck, upTo: Proving): Promise<void>;
}

export interface Proving {
  readonly head: Head;
  readonly pause: () => Promise<void>;
}

export interface Journal extends JournalSource {
  /** The statements that append to this store. */
  into(statements: readonly Statement[], command: CommandIdentity): readonly Statement[];
  /** Why the journal takes no event; undefined while it takes them. */
  readonly damage: SvcError | undefined;
  /** Resolves once every committed event is where it is kept. Throws if that fails: the event stays stored, its answer is not given. */
  settled(): Promise<void>;
  /** Leaves everything where it is kept. */
  stop(): Promise<void>;
}

/** Throws `journal_damaged` while the journal takes no event. */
export function refuseDamaged({ damage }: Pick<Journal, 'damage'>): void {
  if (damage !== undefined) throw damage;
}

const SLICE = 500;

/** Each accepted command has one event `<command id>/1`. */
export const commandsIn = (
  table: 'workroom_events' | 'workroom_places' | 'workroom_spool',
  after: number,
  until: number,
) =>
  sql
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('seq', '>', after)
    .where('seq', '<=', until)
    .where('id', 'like', '%/1')
    .where('id', 'not like', 'due/%');

/** The journal in the database: what is committed is where it belongs. */
const eventById = preparedRead<{ id: string }, { readonly stream: string; readonly version: number }>(({ id }) =>
  sql.selectFrom('workroom_events').select(['stream', 'version']).where('id', '=', id),
);

export class DatabaseJournal implements Journal {
  readonly store = 'database';
  readonly damage: SvcError | undefined;
  readonly #reader: Reader;

  constructor(reader: Reader, damage?: SvcError) {
    this.#reader = reader;
    this.damage = damage;
  }

  slice({ after, limit, stream }: SliceAsked): Promise<readonly WorkroomEventsTable[]> {
    const query = sql.selectFrom('workroom_events').selectAll().where('seq', '>', after).orderBy('seq').limit(limit);
    return this.#reader.all(stream === undefined ? query : query.where('stream', '=', stream));
  }

  byId(id: string): Promise<Pick<WorkroomEventsTable, 'stream' | 'version'> | undefined> {
    return this.#reader.first(eventById({ id }));
  }

  async commands(after: number, until: number): Promise<number> {
    return (await this.#reader.first(commandsIn('workroom_events', after, until)))?.n ?? 0;
  }

  async prove(check: JournalCheck, { head, pause }: Proving): Promise<void> {
    for (let after = 0; after < head.seq; ) {
      const rows = await this.slice({ after, limit: SLICE });
      for (const row of rows) if (row.seq <= head.seq) check.add(row);
      after = rows.at(-1)?.seq ?? head.seq;
      await pause();
    }
  }

  into(statements: readonly Statement[]): readonly Statement[] {
    return statements;
  }

  async settled(): Promise<void> {}

  async stop(): Promise<void> {}
}
