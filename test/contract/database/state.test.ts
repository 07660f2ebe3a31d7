// The schema over versions and kills, identity of the project, and what is kept for how long.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { MIGRATIONS, type Migration } from '../../../worker/database/migrations/list.ts';
import { isOpen } from '../../../worker/database/open-rows.ts';
import { birthOf, loadProjectState, type ProjectState } from '../../../worker/database/project-state.ts';
import { sql } from '../../../worker/database/statement.ts';
import { Housekeeping } from '../../../worker/host/housekeeping.ts';
import { definePlugin } from '../../../worker/sdk/index.ts';
import { engineHost } from '../../support/hosts/engine-host.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

const DAY = 86_400_000;

function databaseOf(t: Cleanup): { file: string; open: () => Database } {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  return {
    file,
    open: () => {
      const database = new Sqlite(file);
      t.after(() => void database.close());
      return database;
    },
  };
}
const NEXT = (MIGRATIONS.at(-1)?.id ?? 0) + 1;
const more = (id: number, breaking: boolean, statements: string[] = [`CREATE TABLE later_${id} (x)`]): Migration => ({
  id,
  name: `000${id}-later`,
  breaking,
  statements,
});
const version = (database: Database): unknown => database.pragma('user_version', { simple: true });

describe('migrations', () => {
  it('make a fresh database once', (t) => {
    const database = databaseOf(t).open();

    assert.deepEqual(
      migrate(database, 0),
      MIGRATIONS.map(({ name }) => name),
    );
    assert.deepEqual(migrate(database, 0), []);
    assert.equal(version(database), MIGRATIONS.at(-1)?.id);
  });

  it('bring a database of an earlier svc along, with what is in it', (t) => {
    const database = databaseOf(t).open();
    migrate(database, 0, MIGRATIONS.slice(0, 1));
    database.exec("INSERT INTO handler_runs (item_id, handler, attempts) VALUES ('i', 'h', 3)");

    assert.deepEqual(
      migrate(database, 0),
      MIGRATIONS.slice(1).map(({ name }) => name),
    );
    assert.deepEqual(database.prepare('SELECT attempts, failures FROM handler_runs').all(), [
      { attempts: 3, failures: 0 },
    ]);
  });

  it('find what an earlier svc left open by index, and nothing that has ended', (t) => {
    const database = databaseOf(t).open();
    migrate(database, 0, MIGRATIONS.slice(0, 5));
    const insert = database.prepare(
      `INSERT INTO inbox (id, endpoint, delivery_id, kind, lane, payload_version, sha256, bytes, received_at, state, done_at)
       VALUES (@state, 'e', @state, 'arrival', 'l', 1, '', 0, 1, @state, @end)`,
    );
    for (const state of ['received', 'handling', 'waiting']) insert.run({ state, end: null });
    for (const state of ['done', 'dead']) insert.run({ state, end: 2 });
    migrate(database, 0);

    const { sql: open } = sql
      .selectFrom('inbox')
      .select('state')
      .where(isOpen)
      .where('seq', '>', 0)
      .orderBy('seq')
      .compile();
    assert.deepEqual(database.prepare(open).pluck().all(0), ['received', 'handling', 'waiting']);
    assert.match(JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${open}`).all(0)), /USING INDEX inbox_open/);
  });

  it('name the handler that failed at dead items of an earlier svc, and leave those without one', (t) => {
    const database = databaseOf(t).open();
    migrate(database, 0, MIGRATIONS.slice(0, 10));
    const insert = database.prepare(
      `INSERT INTO inbox (id, endpoint, delivery_id, kind, lane, payload_version, sha256, bytes, received_at, state, done_at)
       VALUES (@id, 'e', @id, 'arrival', 'l', 1, '', 0, 1, @state, 2)`,
    );
    for (const id of ['failed', 'unparsable']) insert.run({ id, state: 'dead' });
    insert.run({ id: 'dropped', state: 'done' });
    const ran = database.prepare('INSERT INTO handler_runs (item_id, handler, verdict) VALUES (?, ?, ?)');
    for (const id of ['failed', 'dropped']) ran.run(id, 'root/a#on/message', 'dead');
    ran.run('failed', 'root/b#on/message', 'done');
    migrate(database, 0);

    assert.deepEqual(database.prepare('SELECT id, code, failed_handler AS handler FROM inbox ORDER BY seq').all(), [
      { id: 'failed', code: 'handler_failed', handler: 'root/a#on/message' },
      { id: 'unparsable', code: null, handler: null },
      { id: 'dropped', code: null, handler: null },
    ]);
  });

  it('leave the schema before it when one is killed in the middle, and run it the next time', (t) => {
    const { file, open } = databaseOf(t);
    migrate(open(), 0);
    const program = `
      import { Sqlite } from './shared/sqlite.ts';
      import { migrate } from './worker/database/migrate.ts';
      import { MIGRATIONS } from './worker/database/migrations/list.ts';
      const database = new Sqlite(${JSON.stringify(file)});
      database.function('die', () => process.kill(process.pid, 'SIGKILL'));
      migrate(database, 0, [...MIGRATIONS, { id: ${NEXT}, name: '0000-later', breaking: true, statements: ['CREATE TABLE half (x)', 'SELECT die()', 'CREATE TABLE whole (x)'] }]);`;
    const { signal } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
      cwd: join(import.meta.dirname, '../../..'),
    });
    const database = open();
    const tables = (): unknown[] =>
      database.prepare("SELECT name FROM sqlite_master WHERE name IN ('half', 'whole') ORDER BY name").pluck().all();
    const killed = [signal, tables(), version(database)];

    migrate(database, 0, [...MIGRATIONS, more(NEXT, true, ['CREATE TABLE half (x)', 'CREATE TABLE whole (x)'])]);

    assert.deepEqual(killed, ['SIGKILL', [], NEXT - 1]);
    assert.deepEqual(tables(), ['half', 'whole']);
  });

  it('of a newer svc that are compatible do not keep an older one out', (t) => {
    const database = databaseOf(t).open();
    migrate(database, 0, [...MIGRATIONS, more(NEXT, false)]);

    assert.deepEqual(migrate(database, 0), []);
    assert.equal(version(database), NEXT);
  });

  it('of a newer svc that break keep an older one out, which leaves the file as it is', (t) => {
    const { file, open } = databaseOf(t);
    const database = open();
    migrate(database, 0, [...MIGRATIONS, more(NEXT, false), more(NEXT + 1, true)]);
    const digest = (): string => createHash('sha256').update(readFileSync(file)).digest('hex');
    const before = digest();

    assert.throws(() => migrate(database, 0), { code: 'schema_newer', message: new RegExp(`000${NEXT + 1}-later`) });
    assert.equal(digest(), before);
  });

  it('that were edited after they ran are refused, breaking or not', (t) => {
    for (const breaking of [true, false]) {
      const database = databaseOf(t).open();
      migrate(database, 0, [...MIGRATIONS, more(NEXT, breaking)]);

      assert.throws(() => migrate(database, 0, [...MIGRATIONS, more(NEXT, breaking, ['CREATE TABLE other (x)'])]), {
        code: 'database_corrupt',
      });
    }
  });
});

describe('the state of a project', () => {
  it('keeps its identity', async (t) => {
    const host = await engineHost(t);
    const first = await loadProjectState(host.core.writer, host.core.reader);
    const next = await host.restart(t);
    const second = await loadProjectState(next.core.writer, next.core.reader);

    assert.deepEqual([second.projectId, second.epoch], [first.projectId, first.epoch]);
    assert.ok(second.head > 0);
  });
});

describe('a database file that was put back from a copy', () => {
  it('begins a new timeline, once: its numbers would be given to other events', async (t) => {
    const { writer, reader } = (await engineHost(t)).core;
    const starts: ProjectState[] = [];
    for (const born of [undefined, '1', '1', undefined, '2', '2'])
      starts.push(await loadProjectState(writer, reader, { born }));

    const epochs = starts.map(({ epoch }) => starts.findIndex((start) => start.epoch === epoch));

    assert.deepEqual(epochs, [0, 0, 0, 0, 4, 4]);
    assert.deepEqual(
      starts.map(({ isCopy }) => isCopy),
      [false, false, false, false, true, false],
    );
  });

  it('is told by how far its own timeline had come, where it was written over in place', async (t) => {
    const { writer, reader } = (await engineHost(t)).core;
    const { epoch, head } = await loadProjectState(writer, reader);
    const from = async (noted: { epoch: string; seq: number } | undefined): Promise<boolean> =>
      (await loadProjectState(writer, reader, { noted })).isCopy;

    assert.ok(head > 0);
    assert.deepEqual(
      [
        await from(undefined),
        await from({ epoch, seq: head }),
        await from({ epoch: '0000000000000000', seq: head + 9 }),
      ],
      [false, false, false],
    );
    assert.equal(await from({ epoch, seq: head + 1 }), true);
    assert.notEqual((await loadProjectState(writer, reader)).epoch, epoch);
  });

  it('is told by when it was made, which changes to it leave alone', async (t) => {
    const { file, open } = databaseOf(t);
    const database = open();
    migrate(database, 0);
    const born = birthOf(file);
    if (born === undefined) return t.skip('this file system does not keep when a file was made');
    copyFileSync(file, `${file}.copy`);
    database.exec('CREATE TABLE more (x)');

    assert.equal(birthOf(file), born);
    assert.notEqual(birthOf(`${file}.copy`), born);
  });
});

describe('housekeeping', () => {
  it('erases texts, then ids and sent messages after their days; dead letters stay, dropped ones do not', async (t) => {
    const plugin = definePlugin({
      name: 'mixed',
      setup(p) {
        p.on('message', { attempts: 1 }, async (ctx, { text }) => {
          await ctx.once('call', () => 1);
          if (text === 'bad') throw new Error('no');
          return text;
        });
      },
    });
    const host = await engineHost(t, { modules: { mixed: plugin } });
    for (const text of ['good', 'bad', 'other']) await host.platform.says(text);
    await host.quiet();
    await host.write(
      "UPDATE outbox SET state = 'dead', last_error = 'dropped: by hand', is_dropped = 1 WHERE conversation = 'dm-ann' AND seq = 2",
    );
    await host.write("INSERT INTO once_results VALUES ('a route', 'h', 's', 'done', '1', 0)");
    const housekeeping = new Housekeeping(host.core, () => ({ bodyDays: 7, idDays: 30, outboxDays: 7 }));
    const look = (): unknown[] => [
      host
        .rows<{ state: string; body: number }>('SELECT state, body IS NOT NULL AS body FROM inbox ORDER BY seq')
        .map(({ state, body }) => `${state} ${body}`),
      host.rows<{ n: number }>('SELECT count(*) AS n FROM outbox')[0]?.n,
      host.rows<{ item_id: string }>('SELECT DISTINCT item_id FROM once_results').length,
    ];

    const seen = [look()];
    for (const days of [1, 7, 30]) {
      host.clock.moveTo(host.clock.now() + days * DAY);
      await housekeeping.run();
      seen.push(look());
    }

    assert.deepEqual(seen, [
      [['done 1', 'dead 1', 'done 1'], 2, 2],
      [['done 1', 'dead 1', 'done 1'], 2, 1],
      [['done 0', 'dead 1', 'done 0'], 0, 1],
      [['dead 1'], 0, 1],
    ]);
  });

  it('remembers deliveries over a clock that is a year ahead for a day, and over restarts meanwhile (KEPTCLOCK-2)', async (t) => {
    const echo = definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, (_ctx, { text }) => text) });
    const host = await engineHost(t, { modules: { echo } });
    const life = (): Housekeeping => new Housekeeping(host.core, () => ({ bodyDays: 7, idDays: 30, outboxDays: 7 }));
    await host.platform.says('x', { id: 'd1' });
    await host.quiet();

    const lives = [life()];
    await lives[0]?.run();
    host.clock.step(365 * DAY);
    for (let hours = 0; hours < 24; hours += 1) {
      if (hours % 6 === 0) lives.push(life());
      host.clock.moveTo(host.clock.now() + DAY / 24);
      await lives.at(-1)?.run();
    }
    host.clock.step(-365 * DAY);
    await host.platform.says('x', { id: 'd1' });
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['x']);
  });

  it('erases by a jump of the clock that has stood for as long as ids are kept', async (t) => {
    const host = await engineHost(t, {
      modules: { echo: definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, () => {}) }) },
    });
    const housekeeping = new Housekeeping(host.core, () => ({ bodyDays: 7, idDays: 30, outboxDays: 7 }));
    host.clock.step(-56 * 365 * DAY); // a machine without a clock of its own, before it hears the time
    await host.platform.says('x');
    await host.quiet();
    await housekeeping.run();
    host.clock.step(56 * 365 * DAY);

    const left: number[] = [];
    for (let days = 1; days <= 61; days += 1) {
      host.clock.moveTo(host.clock.now() + DAY);
      await housekeeping.run();
      left.push(host.rows('SELECT 1 FROM inbox').length);
    }

    assert.deepEqual([left[28], left[60]], [1, 0]);
  });

  it('erases texts that grew old while the host was down within an hour or two, and not at once (HOUSEKEEPING-1)', async (t) => {
    const host = await engineHost(t, {
      modules: { echo: definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, () => {}) }) },
    });
    const life = (): Housekeeping => new Housekeeping(host.core, () => ({ bodyDays: 7, idDays: 30, outboxDays: 7 }));
    await host.platform.says('x');
    await host.quiet();
    await life().run();
    host.clock.step(8 * DAY);

    const [after, texts] = [life(), (): number => host.rows('SELECT 1 FROM inbox WHERE body IS NOT NULL').length];
    await after.run();
    const atOnce = texts();
    for (let minutes = 0; minutes < 120; minutes += 10) {
      host.clock.moveTo(host.clock.now() + DAY / 144);
      await after.run();
    }

    assert.deepEqual([atOnce, texts(), host.rows('SELECT 1 FROM inbox').length], [1, 0, 1]);
  });

  it('goes on erasing texts after a clock that was a year ahead is set right', async (t) => {
    const echo = definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, (_ctx, { text }) => text) });
    const host = await engineHost(t, { modules: { echo } });
    const housekeeping = new Housekeeping(host.core, () => ({ bodyDays: 7, idDays: 30, outboxDays: 7 }));
    host.clock.step(365 * DAY);
    await housekeeping.run();
    host.clock.step(-365 * DAY);
    await housekeeping.run();

    await host.platform.says('x');
    await host.quiet();
    host.clock.moveTo(host.clock.now() + 8 * DAY);
    await housekeeping.run();

    assert.deepEqual(host.rows('SELECT body FROM inbox'), [{ body: null }]);
  });
});
