// Random histories before and after a checkpoint, in real databases: after the restore each message is handled once and each reply goes out once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { withoutCarry } from '../../../worker/recovery/restore/carry.ts';
import { changeState } from '../../../worker/recovery/restore/prepare.ts';
import { stateOf } from '../../../worker/recovery/restore/state-reader.ts';
import { due, insert, item, send } from '../../support/recovery/changed-rows.ts';

type Step =
  | 'deliver'
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
class World {
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

/** What an item is about: the delivery, or the task that it fires. */
const subjectOf = (delivery: string): string => delivery.split('@')[0] ?? delivery;

const add = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

interface Item {
  readonly id: string;
  readonly delivery_id: string;
}

/** A host that does one thing a step. */
class Host {
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
        return this.#on('done_at IS NULL', pick, ({ id, delivery_id: delivery }) => {
          this.#world.givenUp.add(subjectOf(delivery));
          this.database
            .prepare("UPDATE inbox SET state = 'dead', done_at = 1, attempts = attempts + 1, code = 'x' WHERE id = ?")
            .run(id);
        });
      case 'replay':
        return this.#on("state = 'dead'", pick, ({ id, delivery_id: delivery }) => {
          this.#world.givenUp.delete(subjectOf(delivery));
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
        return this.#on("state = 'done'", pick, ({ id, delivery_id: delivery }) => {
          this.#world.forgotten.add(delivery);
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
    this.#receive(delivery, 'arrival');
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

  #receive(delivery: string, kind: string): void {
    const known = this.database.prepare('SELECT 1 FROM inbox WHERE delivery_id = ?').get(delivery);
    if (known !== undefined) return;
    this.#world.ids += 1;
    insert(this.database, 'inbox', item(`i${this.#world.ids}`, { delivery_id: delivery, kind }));
  }

  #attempt(id: string, state: string): void {
    this.database.prepare('UPDATE inbox SET state = ?, attempts = attempts + 1 WHERE id = ?').run(state, id);
  }

  /** Its run is stored with its effects: it is not run again. */
  #firstHandler({ id, delivery_id: delivery }: Item): void {
    const ran = this.database.prepare("SELECT 1 FROM handler_runs WHERE item_id = ? AND verdict = 'done'").get(id);
    if (ran !== undefined) return;
    insert(this.database, 'handler_runs', { item_id: id, handler: 'first', attempts: 1, verdict: 'done' });
    this.#effects(`${subjectOf(delivery)}/first`);
  }

  /** Item, reply and task are one unit. */
  #handle(one: Item): void {
    this.#firstHandler(one);
    this.#effects(`${subjectOf(one.delivery_id)}/second`);
    this.database
      .prepare("UPDATE inbox SET state = 'done', done_at = 1, attempts = attempts + 1 WHERE id = ?")
      .run(one.id);
    if (!one.delivery_id.startsWith('d')) return;
    const task = `task/${one.delivery_id}`;
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
    this.#receive(`${id}@5/${this.#world.ids}`, 'task');
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
    return this.database.prepare(`SELECT id, delivery_id FROM inbox WHERE ${where} ORDER BY seq`).all() as Item[];
  }

  #keys(where: string): string[] {
    return this.database.prepare(`SELECT key FROM outbox WHERE ${where} ORDER BY seq`).pluck().all() as string[];
  }
}

const HISTORY_STEP = fc.tuple(
  fc.constantFrom<Step>(
    'deliver',
    'deliver',
    'deliver',
    'begin',
    'first handler',
    'handle',
    'handle',
    'give up',
    'replay',
    'send',
    'begin to send',
    'fire',
    'forget an item',
    'forget a send',
  ),
  fc.nat(7),
);
const HISTORY = fc.array(HISTORY_STEP, { maxLength: 40 });
type History = readonly (readonly [Step, number])[];

const apply = (database: Database) => (statement: { readonly sql: string; readonly parameters: readonly unknown[] }) =>
  void database.prepare(statement.sql).run(...statement.parameters);

/** The state of `source` replaces that of `replaced`, as a restore and an undo do it. */
function bring(world: World, source: Buffer, replaced: Host): Host {
  const restored = new Host(world, source);
  world.ids += 1;
  const entry = { purpose: 'restore', source: 'c1', sourceId: 'c1', replaced: `s${world.ids}`, lost: 0 } as const;
  changeState(restored.database, { replaced: stateOf(replaced.database), carry: true, open: 'handle', now: 2, entry });
  return restored;
}

/** A host, a checkpoint, more of its life, and the restored host. */
function restoredAfter(before: History, since: History, carry: boolean) {
  const world = new World();
  const host = new Host(world);
  for (const [step, pick] of before) host.step(step, pick);
  const copy = host.database.serialize();
  for (const [step, pick] of since) host.step(step, pick);
  if (carry) return { world, host, restored: bring(world, copy, host) };
  const restored = new Host(world, copy);
  withoutCarry('handle', 2).forEach(apply(restored.database));
  return { world, host, restored };
}

type Act = 'checkpoint' | 'restore' | 'undo' | readonly [Step, number];

/** A host with checkpoints, restores of any of them, and undos of the restore before. */
function lifeOf(acts: readonly (readonly [Act, number])[]) {
  const world = new World();
  let host = new Host(world);
  const checkpoints: Buffer[] = [];
  let replaced: Buffer | undefined;
  for (const [act, pick] of acts) {
    if (act === 'checkpoint') checkpoints.push(host.database.serialize());
    else if (act === 'restore' || act === 'undo') {
      const source = act === 'undo' ? replaced : checkpoints[pick % Math.max(1, checkpoints.length)];
      if (source === undefined) continue;
      replaced = host.database.serialize();
      host = bring(world, source, host);
    } else host.step(...act);
  }
  return { world, host };
}

/** Everything is brought again, and then all that is left is done. */
function finish(world: World, host: Host): void {
  for (const delivery of world.delivered) if (!world.forgotten.has(delivery)) host.deliver(delivery);
  host.toTheEnd();
}

function faults({ delivered, promised, runs, calls, keys, givenUp }: World): readonly string[] {
  const twice = [...runs, ...calls].filter(([, count]) => count > 1).map(([what]) => `${what} twice`);
  const lost = [...delivered, ...promised].filter((one) => !runs.has(`${one}/second`) && !givenUp.has(one));
  const unsent = [...keys].filter((key) => !calls.has(key));
  return [...twice, ...lost.map((one) => `${one} lost`), ...unsent.map((key) => `${key} unsent`)];
}

describe('carry', () => {
  it('handles and sends nothing twice and loses nothing, whatever happened before and after the checkpoint', () => {
    fc.assert(
      fc.property(HISTORY, HISTORY, (before, since) => {
        const { world, restored } = restoredAfter(before, since, true);
        finish(world, restored);
        assert.deepEqual(faults(world), []);
      }),
      { numRuns: 80 },
    );
  });

  it('holds for an undo as well: the restored host lived on, and its outcomes come along', () => {
    fc.assert(
      fc.property(HISTORY, HISTORY, HISTORY, (before, since, after) => {
        const { world, host, restored } = restoredAfter(before, since, true);
        for (const [step, pick] of after) restored.step(step, pick);
        finish(world, bring(world, host.database.serialize(), restored));
        assert.deepEqual(faults(world), []);
      }),
      { numRuns: 60 },
    );
  });

  it('holds for any chain of checkpoints, restores and undos, whatever retention has removed meanwhile', () => {
    // An operator who replays a dead letter means it, whatever became of it in a state that was replaced.
    const steps = HISTORY_STEP.filter(([step]) => step !== 'replay');
    const act = fc.oneof(
      { arbitrary: steps, weight: 6 },
      { arbitrary: fc.constantFrom<Act>('checkpoint', 'restore', 'undo'), weight: 1 },
    );
    const acts = fc.array(fc.tuple(act, fc.nat(7)), { minLength: 10, maxLength: 80 });
    fc.assert(
      fc.property(acts, (life) => {
        const { world, host } = lifeOf(life);
        finish(world, host);
        assert.deepEqual(faults(world), []);
      }),
      { numRuns: 80 },
    );
  });

  it('keeps a task that was set since the restore when the restore is undone', () => {
    const { world, host } = lifeOf([
      ['checkpoint', 0],
      ['restore', 0],
      [['deliver', 0], 0],
      [['handle', 0], 0],
      ['undo', 0],
    ]);
    host.toTheEnd();
    assert.equal(world.runs.get('task/d0/second'), 1);
  });

  it('ends work that was handled since the restore, and removed by retention, when the restore is undone', () => {
    const { world, host } = lifeOf([
      ['checkpoint', 0],
      [['deliver', 0], 0],
      ['restore', 0],
      [['handle', 0], 0],
      [['forget an item', 0], 0],
      ['undo', 0],
    ]);
    host.toTheEnd();
    assert.equal(world.runs.get('d0/second'), 1);
  });

  it('ends work that ended before an undo, and was removed by retention, when the checkpoint is restored again', () => {
    const { world, host } = lifeOf([
      [['deliver', 0], 0],
      ['checkpoint', 0],
      [['handle', 0], 0],
      [['forget an item', 0], 0],
      ['restore', 0],
      ['undo', 0],
      ['restore', 0],
    ]);
    host.toTheEnd();
    assert.equal(world.runs.get('d0/second'), 1);
  });

  it('is what holds it: without, the same histories handle and send twice', () => {
    const found = fc.check(
      fc.property(HISTORY, HISTORY, (before, since) => {
        const { world, restored } = restoredAfter(before, since, false);
        finish(world, restored);
        return faults(world).length === 0;
      }),
      { numRuns: 80 },
    );
    assert.equal(found.failed, true);
  });
});
