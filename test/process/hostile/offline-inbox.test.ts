// `svc inbox list|show|hold|drop|replay` while the host is down, hung, failed or about to start: they answer from the file, what they print as done
// is done, and the next worker goes on with the rest.
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { lockWriter } from '../../../worker/database/writer-lock.ts';
import { type ActingHost, actingHost, type Item } from '../../support/hosts/acting-host.ts';
import { ask } from '../../support/process/supervised.ts';
import { startProgram } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const FAILPOINTS_CLI = fileURLToPath(new URL('../../../dist/failpoints/cli.js', import.meta.url));
const FROM_FILE = /^the host does not answer: using \.svc\/data\.sqlite$/m;

function idOf(items: ReadonlyMap<string, Item>, text: string): string {
  const item = items.get(text);
  assert.ok(item !== undefined, `${text} of ${[...items.keys()].join(', ')}`);
  return item.id;
}

async function changed(host: ActingHost, ...words: string[]): Promise<void> {
  const { code, stdout, stderr } = await host.run('inbox', ...words);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stderr, FROM_FILE);
}

/** One conversation each in which a first message is under way and a second one waits for it. */
async function fill(host: ActingHost): Promise<void> {
  for (const [person, texts] of [
    ['ann', ['slow 1', 'after 1']],
    ['bob', ['slow 2', 'after 2']],
    ['cat', ['die 1']],
    ['dan', ['die 2']],
    ['eve', ['wait 1']],
    ['fay', ['wait 2']],
    ['gus', ['hello']],
  ] as const)
    for (const text of texts) assert.equal(await host.say(person, text), 202);
  await until(
    async () => {
      const states = (await host.api.inbox()).map(({ state }) => state).toSorted();
      return states.join() === 'dead,dead,done,handling,handling,received,received,waiting,waiting' || undefined;
    },
    { what: 'an item in each state', everyMs: 50 },
  );
}

describe('the inbox of a host that does not answer', { concurrency: 3, timeout: 900_000 }, () => {
  it('is listed, shown and changed after a kill; the next start has what was changed, and handles the rest', async (t) => {
    const host = await actingHost(t);
    await host.start();
    await fill(host);
    const before = await host.api.inbox();
    await host.die();

    const items = await host.items();
    assert.deepEqual(new Set(items.keys()).size, before.length);
    const listed = await host.run('inbox', 'list', '--state', 'handling');
    assert.equal(listed.stdout.trimEnd().split('\n').length, 3);
    assert.match(listed.stderr, FROM_FILE);
    const shown = await host.run('inbox', 'show', idOf(items, 'slow 1'), '--json');
    assert.equal(JSON.parse(shown.stdout).payload.arrival.text, 'slow 1');
    await Promise.all([
      changed(host, 'hold', idOf(items, 'after 1'), '--reason', 'not this one'),
      changed(host, 'hold', idOf(items, 'wait 1'), '--reason', 'nor this'),
      changed(host, 'drop', idOf(items, 'slow 1'), '--reason', 'kills'),
      changed(host, 'replay', idOf(items, 'die 1')),
      changed(host, 'hold', idOf(items, 'after 2'), '--reason', 'a while'),
    ]);
    await changed(host, 'replay', idOf(items, 'after 2'));
    const done = await host.run('inbox', 'hold', idOf(items, 'hello'), '--reason', 'late', '--json');
    assert.deepEqual([done.code, JSON.parse(done.stdout).error.code], [1, 'conflict']);
    assert.equal((await host.run('inbox', 'hold', 'nobody', '--reason', 'x')).code, 1);
    const held = (await host.items()).get('after 1');
    assert.deepEqual([held?.state, held?.['lastError']], ['dead', 'held: not this one']);

    writeFileSync(host.file('calm'), '');
    const known = host.begun().length;
    await host.start();
    for (const text of ['slow 2', 'after 2', 'die 1']) await host.handled(text);

    const states = Object.fromEntries(
      [...(await host.items())].map(([text, { state, lastError }]) => [text, [state, lastError]]),
    );
    assert.deepEqual(
      ['after 1', 'wait 1', 'slow 1', 'die 2', 'wait 2'].map((text) => states[text]),
      [
        ['dead', 'held: not this one'],
        ['dead', 'held: nor this'],
        ['done', 'dropped: kills'],
        ['dead', 'no'],
        ['waiting', 'not now'],
      ],
    );
    assert.deepEqual(host.begun().slice(known).toSorted(), ['after 2', 'die 1', 'slow 2']);
    await assertContinuous(host, ['held', 'held', 'dropped', 'replayed', 'held', 'replayed']);
    await host.run('inbox', 'replay', idOf(items, 'after 1'));
    await host.handled('after 1');
  });

  it('is changed beside a worker that hangs; the next one does not take that item again, and handles the others', async (t) => {
    const host = await actingHost(t, { watchdogSeconds: 120 });
    await host.start();
    void host.say('ann', 'hang');
    await host.hasBegun('hang');
    const items = await host.items();

    const [shown] = await Promise.all([
      host.run('inbox', 'show', idOf(items, 'hang')),
      changed(host, 'drop', idOf(items, 'hang'), '--reason', 'hangs'),
    ]);
    assert.match(shown.stdout, /^text|"text":"hang"/m);
    assert.deepEqual((await host.items()).get('hang')?.state, 'done');
    const hung = host.worker();
    process.kill(hung.pid, 'SIGKILL');
    await until(() => host.api.isReady(), { what: 'the next worker' });
    assert.equal(await host.say('ann', 'hello'), 202);
    await host.handled('hello');

    assert.notEqual(host.worker().pid, hung.pid);
    assert.deepEqual(host.begun(), ['hang', 'hello']);
    await assertContinuous(host, ['dropped']);
  });

  it('is followed by a worker that comes back: nothing of what was ended is stored, and what is back in line is handled', async (t) => {
    const host = await actingHost(t, { watchdogSeconds: 120 });
    await host.start();
    await fill(host);
    const items = await host.items();
    const { pid } = host.worker();

    process.kill(pid, 'SIGSTOP');
    await Promise.all([
      changed(host, 'drop', idOf(items, 'slow 1'), '--reason', 'kills'),
      changed(host, 'hold', idOf(items, 'after 2'), '--reason', 'not this one'),
      changed(host, 'hold', idOf(items, 'wait 1'), '--reason', 'nor this'),
      changed(host, 'replay', idOf(items, 'die 1')),
    ]);
    writeFileSync(host.file('calm'), '');
    writeFileSync(host.file('go'), '');
    process.kill(pid, 'SIGCONT');
    for (const text of ['after 1', 'slow 2', 'die 1']) await host.handled(text);

    assert.equal(host.worker().pid, pid);
    assert.deepEqual(await host.api.said('ann'), ['did after 1']);
    assert.deepEqual(await host.api.said('bob'), ['did slow 2']);
    const pending = async () =>
      ((await host.api.get('/api/system/status')) as { inbox: { items: number } }).inbox.items;
    await until(async () => (await pending()) === 1 || undefined, { what: 'the one that waits to be all that counts' });
    assert.equal(await host.say('bob', 'hello'), 202);
    await host.handled('hello');
    await assertContinuous(host, ['dropped', 'held', 'held', 'replayed']);
  });

  it('is changed under a supervisor that has given up, and the start after that has it', async (t) => {
    const host = await actingHost(t);
    await host.start();
    await fill(host);
    await host.die();
    const stranger = await until(() => listenAt(host.project.port), { what: 'the port, which dying threads hold' });
    const failed = await host.run('runtime', 'start', '--daemon');
    assert.match(failed.stdout, /^failed: /);

    const items = await host.items();
    await changed(host, 'hold', idOf(items, 'slow 1'), '--reason', 'not this one');
    await new Promise((resolve) => stranger.close(resolve));
    writeFileSync(host.file('calm'), '');
    await host.start();
    await host.handled('after 1');

    assert.equal(host.begun().filter((text) => text === 'slow 1').length, 1);
    assert.equal((await host.items()).get('slow 1')?.state, 'dead');
  });

  const skip = process.platform !== 'linux' && 'what a process has open is told by /proc';
  it('is waited for by a start where a command has the lock of the writer: the first worker comes up', {
    skip,
  }, async (t) => {
    const host = await actingHost(t);
    await host.start();
    await host.die();
    const former = host.worker().pid;
    const lock = lockWriter(host.project.paths);

    const starting = host.start();
    const pid = await until(async () => (await statusOf(host)).pid, { what: 'a worker that starts' });
    await until(() => readlinks(`/proc/${pid}/fd`).includes(host.project.paths.writerLock), { what: 'its try' });
    lock.close();
    await starting;

    assert.notEqual(pid, former);
    assert.equal(host.worker().pid, pid, 'it is the first one that was started');
  });

  it('is dropped from while the host starts: each item is gone or refused as it is told, and the start is spent once', async (t) => {
    const host = await actingHost(t);
    await host.start();
    const texts = Array.from({ length: 20 }, (_, index) => `die ${index}`);
    await Promise.all(texts.map((text) => host.say(text.replace(' ', '-'), text)));
    await until(async () => (await host.api.count('inbox', 'dead')) === texts.length || undefined, {
      what: 'the dead',
    });
    const ids = [...(await host.items()).values()].map(({ id }) => id);
    await host.die();

    const starting = host.start();
    const ends = await inTurns(4, ids, (id) => host.run('inbox', 'drop', id, '--reason', 'race', '--json'));
    await starting;

    const after = new Map((await host.list('--limit', '200')).map((item) => [item.id, item]));
    for (const [index, { code, stdout, stderr }] of ends.entries()) {
      const item = after.get(ids[index] ?? '');
      const said = code === 0 ? ['done', 'dropped: race'] : ['dead', 'no'];
      assert.deepEqual([item?.state, item?.['lastError']], said, stdout + stderr);
      if (code !== 0) assert.match(JSON.parse(stdout).error.code, /^(conflict|storage_unavailable)$/);
    }
    const { ready, exits } = JSON.parse((await host.run('runtime', 'status', '--json')).stdout);
    const own = exits.filter(({ reason }: { reason: string }) => reason !== 'supervisor_died'); // by this test
    assert.deepEqual([ready, own], [true, []]);
    const dropped = ends.filter(({ code }) => code === 0).map(() => 'dropped');
    await assertContinuous(host, dropped, /^(offline|token:.*)$/);
  });

  it('is had where a fault of the configuration keeps the host down, and refused in one sentence where another svc made it', async (t) => {
    const host = await actingHost(t);
    await host.start();
    await host.say('ann', 'die 1');
    await until(async () => (await host.api.count('inbox', 'dead')) === 1 || undefined, { what: 'the dead' });
    await host.die();

    host.project.write('svc.config.yml', `${host.project.read('svc.config.yml')}\nlgo_level: debug\n`);
    const [{ id } = { id: '' }] = await host.list();
    await changed(host, 'drop', id, '--reason', `was ${host.project.token}`);
    const [dropped] = await host.list();
    assert.deepEqual([dropped?.state, dropped?.['lastError']], ['done', 'dropped: was [secret]']);
    const sends = await host.run('outbox', 'list');
    assert.deepEqual([sends.code, FROM_FILE.test(sends.stderr)], [0, true]);

    const database = new Sqlite(host.project.paths.database);
    database.exec('DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)');
    database.close();
    for (const words of [['list'], ['show', id], ['drop', id, '--reason', 'x']]) {
      const { code, stderr } = await host.run('inbox', ...words);
      assert.equal(code, 1);
      assert.match(stderr, /^svc: the database lacks [\w-]+ of this svc\n {5}start the host once/);
    }
  });

  for (const [point, isDone] of [
    ['writer.sync', false],
    ['writer.committed', true],
  ] as const)
    it(`has a change done or not done where its command is killed: at ${point}`, async (t) => {
      const host = await actingHost(t, { watchdogSeconds: 120 });
      await host.start();
      await fill(host);
      const items = await host.items();
      const killed = async (text: string): Promise<void> => {
        const { child, ended } = startProgram(
          FAILPOINTS_CLI,
          ['inbox', 'drop', idOf(items, text), '--reason', 'killed'],
          { cwd: host.project.path, env: { SVC_FAILPOINTS: `${point}=kill` } },
        );
        await ended;
        assert.equal(child.signalCode, 'SIGKILL');
        assert.equal((await host.items()).get(text)?.['lastError'], isDone ? 'dropped: killed' : null, text);
      };

      process.kill(host.worker().pid, 'SIGSTOP');
      await killed('slow 1');
      await host.die();
      await killed('slow 2');
      await changed(host, 'drop', idOf(items, 'after 1'), '--reason', 'on purpose');

      writeFileSync(host.file('calm'), '');
      await host.start();
      await host.handled('after 2');
      const expected = isDone ? ['dropped', 'dropped', 'dropped'] : ['dropped'];
      await assertContinuous(host, expected);
      assert.deepEqual(
        host.begun().filter((text) => text.startsWith('slow')).length,
        isDone ? 2 : 4,
        'what was not dropped is handled again',
      );
    });
});

/** The history has no hole, and each change of an operator is in it once, in any order; `actor`: of whom. */
async function assertContinuous(host: ActingHost, changes: readonly string[], actor = /^offline$/): Promise<void> {
  const events = [];
  for await (const event of host.api.events()) events.push(event);
  const seqs = events.map(({ position }) => Number(String(position).split('.')[1]));
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => (seqs[0] ?? 0) + index),
  );
  const made = events.filter((event) => actor.test(String(event['actor'])));
  const types = made.flatMap(({ type }) => /^inbox\.(held|dropped|replayed)$/.exec(String(type))?.[1] ?? []);
  assert.deepEqual(types.toSorted(), changes.toSorted());
}

const listenAt = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server));
  });

/** What a process has open. */
const readlinks = (folder: string): readonly string[] =>
  readdirSync(folder).map((name) => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      return ''; // closed meanwhile
    }
  });

const statusOf = async ({ project }: ActingHost): Promise<RuntimeStatus> =>
  (await ask(join(project.paths.stateDir, 'control.sock'), 'status')) as RuntimeStatus;

async function inTurns<T, R>(width: number, all: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const entries = all.entries();
  const worker = async (): Promise<void> => {
    for (const [index, one] of entries) results[index] = await work(one);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
