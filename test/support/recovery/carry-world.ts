// A host that does one thing a step, over a real database, and the world that sees what it does.
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { due, insert, item, send } from './changed-rows.ts';

export type Step =
  | 'deliver'
  | 'tell a subscriber'
  | 'begin'
  | 'first handler'
  | 'handle'
  | 'give up'
  | 'replay'
  | 'send'
  | 'begin to send'
  | 'fire'
  | 'forget an item'
  | 'forget a send';

/** What the world has seen, which no restore takes back. */
export class World {
  readonly delivered = new Set<string>();
  /** Runs of handlers, by delivery and handler. */
  readonly runs = new Map<string, number>();
  /** Calls of the platform, by key. */
  readonly calls = new Map<string, number>();
  readonly givenUp = new Set<string>();
  readonly forgotten = new Set<string>();
  readonly keys = new Set<string>();
  /** Tasks that were set. */
  readonly promised = new Set<string>();
  ids = 0;
}

const add = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

interface Item {
  readonly id: string;
  /** What it is about: the delivery, the event, or the task that it fires. */
  readonly lane: string;
}

export class Host {
  readonly database: Database;
  readonly #world: World;

  constructor(world: World, copy?: Buffer) {
    this.#world = world;
    this.database = new Sqlite(copy ?? ':memory:');
    if (copy !== undefined) return;
    migrate(this.database, 0);
    insert(this.database, 'meta', { key: 'epoch', value: 'first' });
  }

  /** Each change is told by an event. */
  step(step: Step, pick: number): void {
    this.#change(step, pick);
    this.database.exec("UPDATE counters SET value = value + 1 WHERE name = 'event'");
  }

  #change(step: Step, pick: number): void {
    switch (step) {
      case 'deliver':
        return this.deliver(`d${this.#world.delivered.size}`);
      case 'tell a subscriber':
        return this.#tell();
      case 'begin':
        return this.#on('done_at IS NULL', pick, ({ id }) =>
          this.#attempt(id, pick % 2 === 0 ? 'handling' : 'waiting'),
        );
      case 'first handler':
        return this.#on('done_at IS NULL', pick, (one) => {
          this.#attempt(one.id, 'waiting');
          this.#firstHandler(one);
        });
      case 'handle':
        return this.#on('done_at IS NULL', pick, (one) => this.#handle(one));
      case 'give up':
        return this.#on('done_at IS NULL', pick, ({ id, lane }) => {
          this.#world.givenUp.add(lane);
          this.database
            .prepare("UPDATE inbox SET state = 'dead', done_at = 1, attempts = attempts + 1, code = 'x' WHERE id = ?")
            .run(id);
        });
      case 'replay':
        return this.#on("state = 'dead'", pick, ({ id, lane }) => {
          this.#world.givenUp.delete(lane);
          this.database
            .prepare(
              "UPDATE inbox SET state = 'received', done_at = NULL, attempts = 0, code = NULL, operator_changes = operator_changes + 1 WHERE id = ?",
            )
            .run(id);
        });
      case 'send':
        return this.#onSend('done_at IS NULL', pick, (key) => this.#send(key));
      case 'begin to send':
        return this.#onSend('done_at IS NULL', pick, (key) =>
          this.database.prepare("UPDATE outbox SET state = 'waiting', attempts = attempts + 1 WHERE key = ?").run(key),
        );
      case 'fire':
        return this.#fire(pick);
      case 'forget an item':
        return this.#on("state = 'done'", pick, ({ id, lane }) => {
          this.#world.forgotten.add(lane);
          this.database.prepare('DELETE FROM inbox WHERE id = ?').run(id);
        });
      case 'forget a send':
        return this.#onSend("state = 'sent'", pick, (key) =>
          this.database.prepare('DELETE FROM outbox WHERE key = ?').run(key),
        );
    }
  }

  /** The platform brings it, perhaps again. */
  deliver(delivery: string): void {
    this.#world.delivered.add(delivery);
    this.#receive({ delivery, kind: 'arrival', lane: delivery });
  }

  /** An event under the next number. A subscriber takes one that it knows for a repeat. */
  #tell(): void {
    const next = Number(this.database.prepare("SELECT value + 1 FROM counters WHERE name = 'event'").pluck().get());
    const lane = `event ${this.#world.promised.size}`;
    this.#world.promised.add(lane);
    this.#receive({ delivery: `event/${next}`, kind: 'event', lane });
  }

  /** All that is left: every open item, task and send. */
  toTheEnd(): void {
    for (let count = this.#left(); count > 0; count = this.#left()) {
      for (let open = this.#rows('done_at IS NULL'); open.length > 0; open = this.#rows('done_at IS NULL'))
        for (const one of open) this.#handle(one);
      for (const key of this.#keys('done_at IS NULL')) this.#send(key);
      this.#fire(0);
    }
  }

  #left(): number {
    const open = 'SELECT (SELECT count(*) FROM inbox WHERE done_at IS NULL) + (SELECT count(*) FROM due)';
    return Number(this.database.prepare(`${open} + (SELECT count(*) FROM outbox WHERE done_at IS NULL)`).pluck().get());
  }

  #receive({
    delivery,
    kind,
    lane,
  }: {
    readonly delivery: string;
    readonly kind: string;
    readonly lane: string;
  }): void {
    const known = this.database.prepare('SELECT 1 FROM inbox WHERE delivery_id = ?').get(delivery);
    if (known !== undefined) return;
    this.#world.ids += 1;
    insert(this.database, 'inbox', item(`i${this.#world.ids}`, { delivery_id: delivery, kind, lane }));
  }

  #attempt(id: string, state: string): void {
    this.database.prepare('UPDATE inbox SET state = ?, attempts = attempts + 1 WHERE id = ?').run(state, id);
  }

  /** Its run is stored with its effects: it is not run again. */
  #firstHandler({ id, lane }: Item): void {
    const ran = this.database.prepare("SELECT 1 FROM handler_runs WHERE item_id = ? AND verdict = 'done'").get(id);
    if (ran !== undefined) return;
    insert(this.database, 'handler_runs', { item_id: id, handler: 'first', attempts: 1, verdict: 'done' });
    this.#effects(`${lane}/first`);
  }

  /** Item, reply and task are one unit. */
  #handle(one: Item): void {
    this.#firstHandler(one);
    this.#effects(`${one.lane}/second`);
    this.database
      .prepare("UPDATE inbox SET state = 'done', done_at = 1, attempts = attempts + 1 WHERE id = ?")
      .run(one.id);
    if (!one.lane.startsWith('d')) return;
    const task = `task/${one.lane}`;
    this.#world.promised.add(task);
    insert(this.database, 'due', { ...due(task, 'task', 5), capability: 'root/echo:echo' });
  }

  #effects(run: string): void {
    add(this.#world.runs, run);
    const key = `k/${run}/${this.#world.runs.get(run)}`;
    this.#world.keys.add(key);
    insert(this.database, 'outbox', send(key, { key }));
  }

  #send(key: string): void {
    add(this.#world.calls, key);
    this.database.prepare("UPDATE outbox SET state = 'sent', done_at = 1 WHERE key = ?").run(key);
  }

  #fire(pick: number): void {
    const rows = this.database.prepare("SELECT id FROM due WHERE kind = 'task' ORDER BY id").pluck().all();
    const id = rows[pick % Math.max(1, rows.length)];
    if (id === undefined) return;
    this.database.prepare('DELETE FROM due WHERE id = ?').run(id);
    this.#receive({ delivery: `${id}@5/${this.#world.ids}`, kind: 'task', lane: String(id) });
  }

  #on(where: string, pick: number, change: (one: Item) => unknown): void {
    const rows = this.#rows(where);
    const one = rows[pick % Math.max(1, rows.length)];
    if (one !== undefined) change(one);
  }

  #onSend(where: string, pick: number, change: (key: string) => unknown): void {
    const keys = this.#keys(where);
    const key = keys[pick % Math.max(1, keys.length)];
    if (key !== undefined) change(key);
  }

  #rows(where: string): Item[] {
    return this.database.prepare(`SELECT id, lane FROM inbox WHERE ${where} ORDER BY seq`).all() as Item[];
  }

  #keys(where: string): string[] {
    return this.database.prepare(`SELECT key FROM outbox WHERE ${where} ORDER BY seq`).pluck().all() as string[];
  }
}
