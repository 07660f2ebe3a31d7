// The storage fails under the running worker: nothing that is not stored is acknowledged, readiness says so each way,
// the worker goes on by itself when the fault is gone, and what was acknowledged is there. Injected, by files, and (as root) for real.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { workerLog } from '../../kits/crash/kit/worker-life.ts';
import { LoopDisk, loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { FaultyHost } from '../../support/hosts/faulty-host.ts';
import { requestText, sendRaw } from '../../support/http/raw-http.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const TIMEOUT = { timeout: 590_000 };
const missing = loopDiskMissing();
const SQLITE = new URL('../../../shared/sqlite.ts', import.meta.url).href;
const dataFile = (host: FaultyHost): string => join(host.project.paths.stateDir, 'data.sqlite');

/** What was acknowledged has been handled, as one item with one event; what was refused was not even stored. */
async function assertKept(host: FaultyHost): Promise<void> {
  const items = await host.handled();

  assert.deepEqual(
    host.acknowledged.filter((id) => items.get(id)?.state !== 'done'),
    [],
    'acknowledged is handled',
  );
  const told: unknown[] = [];
  for await (const { type, data } of host.api.events())
    if (type === 'inbox.received') told.push((data as { readonly delivery: string }).delivery);
  assert.deepEqual(
    host.acknowledged.filter((id) => told.filter((delivery) => delivery === id).length !== 1),
    [],
    'acknowledged is told of once',
  );
  assert.deepEqual(
    host.refused.filter((id) => items.has(id)),
    [],
    'refused is not stored',
  );
}

interface Fault {
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

/** Nothing is taken while the fault is there; all is as before when it is gone. */
async function assertOutage(host: FaultyHost, fault: Fault): Promise<void> {
  assert.deepEqual(await host.deliverMany(20), [200]);

  await fault.begin();
  const during = host.deliverMany(20);
  await host.isReady(false);
  assert.deepEqual(await during, [503]);
  await host.staysUnready();
  assert.deepEqual(await host.deliverMany(5), [503]);

  await fault.end();
  await host.isReady(true);
  await assertKept(host);
  assert.deepEqual(await host.redeliver(), [200]);
  assert.deepEqual(await host.deliverMany(20), [200]);
  await assertKept(host);
}

describe('a commit of a start that fails', () => {
  for (const pass of [1, 2, 3]) {
    it(`holds up the start, and no longer than the storage is away (commit ${pass})`, TIMEOUT, async (t) => {
      const host = await FaultyHost.start(t, { failpoints: `writer.sync=error@${pass}` });

      // The writer thread has its own count: it may refuse once more. A command has to be handled, where anything else would be over when stored.
      await until(async () => (await host.deliver('/echo hello')).status === 200, { what: 'a command to be taken' });
      await assertKept(host);
    });
  }
});

describe('a sync that fails', () => {
  for (const pass of [30, 37]) {
    it(`acknowledges nothing of its group, and goes on (commit ${pass})`, TIMEOUT, async (t) => {
      const host = await FaultyHost.start(t, {
        failpoints: `writer.sync=error@${pass}`,
        config: { log_level: 'info' },
      });
      const downs = (): number => readFileSync(workerLog(host.project.path), 'utf8').split('"ready":false').length - 1;
      const before = downs();
      // It may be back before a busy machine asks.
      const wentDown = until(async () => !(await host.api.isReady()) || downs() > before, {
        what: 'readiness to be false',
      });

      await until(async () => (await host.deliverMany(8)).includes(503), {
        what: 'a delivery to be refused',
      });

      await wentDown;
      await host.isReady(true);
      assert.deepEqual(await host.deliverMany(20), [200]);
      await assertKept(host);
    });
  }
});

describe('the database file', () => {
  it('is removed, and put back', TIMEOUT, async (t) => {
    const host = await FaultyHost.start(t);
    const aside = join(host.project.path, 'aside.sqlite');

    await assertOutage(host, {
      begin: () => renameSync(dataFile(host), aside),
      end: () => renameSync(aside, dataFile(host)),
    });
  });

  it('is replaced by another, and put back', TIMEOUT, async (t) => {
    const host = await FaultyHost.start(t);
    const aside = join(host.project.path, 'aside.sqlite');
    const begin = (): void => {
      renameSync(dataFile(host), aside);
      writeFileSync(dataFile(host), 'this is not a database\n'.repeat(1_000), { mode: 0o600 });
    };

    await assertOutage(host, { begin, end: () => renameSync(aside, dataFile(host)) });
  });

  it('is overwritten, and written back', TIMEOUT, async (t) => {
    const host = await FaultyHost.start(t);
    assert.deepEqual(await host.deliverMany(20), [200]);
    await host.life.stop(); // all is in the one file then, nothing in the log beside it
    const sound = readFileSync(dataFile(host));
    host.restart();
    await host.isReady(true);

    writeFileSync(dataFile(host), Buffer.alloc(sound.length, 'garbage '));
    await host.isReady(false);
    await host.staysUnready();
    assert.deepEqual(await host.deliverMany(5), [503]);

    // Where the log still holds the start after it, nothing is missing; where it was checkpointed, somebody has to take what is left.
    writeFileSync(dataFile(host), sound);
    await host.life.stop();
    rmSync(`${dataFile(host)}.known`, { force: true });
    host.restart();
    await host.isReady(true);
    assert.deepEqual(await host.deliverMany(20), [200]);
    await assertKept(host);
  });

  it('loses its log, which is mended and told of, and nothing is lost', TIMEOUT, async (t) => {
    const host = await FaultyHost.start(t);
    const told = (): number =>
      readFileSync(workerLog(host.project.path), 'utf8').split('the log of the database was removed').length - 1;
    assert.deepEqual(await host.deliverMany(20), [200]);

    rmSync(`${dataFile(host)}-wal`);
    await until(() => told() > 0, { what: 'a warning' });
    assert.deepEqual(await host.deliverMany(20), [200]);
    await host.life.kill();
    host.restart();
    await host.isReady(true);

    await assertKept(host);
    assert.equal(told(), 1);
  });

  it('is locked by another program', TIMEOUT, async (t) => {
    const host = await FaultyHost.start(t);
    const locker = foreignLock(t, dataFile(host));

    await assertOutage(host, { begin: locker.lock, end: locker.release });
  });

  it('is garbage at the start: up, not ready, nothing taken, and the file is left as it is', TIMEOUT, async (t) => {
    const host = await FaultyHost.start(t);
    assert.deepEqual(await host.deliverMany(5), [200]);
    await host.life.stop();
    const sound = readFileSync(dataFile(host));
    const garbage = Buffer.alloc(sound.length, 'garbage ');
    assert.deepEqual(
      readdirSync(host.project.paths.stateDir).filter((name) => name.startsWith('data.sqlite-')),
      [],
      'a worker that was stopped leaves all in one file',
    );
    writeFileSync(dataFile(host), garbage);

    host.restart();
    await until(async () => (await fetch(`${host.url}/pub/health`)).status === 200, {
      what: 'the worker to be up',
    });

    assert.equal(await host.api.isReady(), false);
    assert.notEqual((await host.deliver('hello')).status, 200);
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      `Authorization: Bearer ${host.project.token}`,
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    const refused = await sendRaw(Number(new URL(host.url).port), requestText('GET /api/ws', upgrade));
    assert.deepEqual([refused.status, JSON.parse(refused.body).code], [503, 'storage_unavailable']);
    assert.deepEqual(readFileSync(dataFile(host)), garbage);

    writeFileSync(dataFile(host), sound);
    await host.isReady(true);
    assert.deepEqual(await host.deliverMany(5), [200]);
    await assertKept(host);
  });
});

describe('the log of the database', () => {
  for (const parts of [['-wal'], ['-shm'], ['-wal', '-shm']])
    it(
      `is removed (${parts.join(', ')}): what was acknowledged before and after outlives a kill`,
      TIMEOUT,
      async (t) => {
        const host = await FaultyHost.start(t);
        assert.deepEqual(await host.deliverMany(20), [200]);

        for (const part of parts) rmSync(`${dataFile(host)}${part}`);
        assert.deepEqual(await host.deliverMany(20), [200]);
        await host.life.kill();
        host.restart();

        await host.isReady(true);
        assert.deepEqual(await host.deliverMany(5), [200]);
        await assertKept(host);
      },
    );
});

it('the log of the database cannot be replaced after a crash: the worker ends, and has brought nothing over', {
  ...TIMEOUT,
  skip: missing,
}, async (t) => {
  const host = await FaultyHost.start(t);
  assert.deepEqual(await host.deliverMany(20), [200]);
  await host.life.kill();
  const [log, before] = [`${dataFile(host)}-wal`, readFileSync(dataFile(host))];
  execFileSync('mount', ['--bind', log, log]); // whatever is put in its place is refused (EBUSY)
  t.after(() => void spawnSync('umount', ['-l', log]));

  host.restart();
  await until(() => host.life.end?.signal === 'SIGKILL', { what: 'the worker to end' });
  const after = readFileSync(dataFile(host));
  execFileSync('umount', [log]);
  host.restart();

  assert.deepEqual(after, before);
  assert.match(readFileSync(workerLog(host.project.path), 'utf8'), /cannot be replaced by its copy \(EBUSY\)/);
  await assertKept(host);
});

describe('the disk', { skip: missing }, () => {
  it('is full, and has room again', TIMEOUT, async (t) => {
    const host = await FaultyHost.start(t, { prepare: ({ paths }) => memoryDisk(t, paths.stateDir, 16) });
    const filler = join(host.project.paths.stateDir, 'filler');

    await assertOutage(host, { begin: () => fill(filler), end: () => rmSync(filler) });
  });

  it('takes no writes, and takes them again', TIMEOUT, async (t) => {
    const host = await FaultyHost.start(t, { prepare: ({ paths }) => void new LoopDisk(t, paths.stateDir) });
    const mark = (flag: string): void =>
      void execFileSync('sh', [
        '-c',
        `cd "$1" && chattr ${flag} data.sqlite data.sqlite-wal`,
        'sh',
        host.project.paths.stateDir,
      ]);

    await assertOutage(host, { begin: () => mark('+i'), end: () => mark('-i') });
  });

  it('dies: nothing more is acknowledged, and the worker still stops when it is asked to', TIMEOUT, async (t) => {
    let disk: LoopDisk | undefined;
    const host = await FaultyHost.start(t, {
      prepare: ({ paths }) => {
        disk = new LoopDisk(t, paths.stateDir);
      },
    });
    assert.deepEqual(await host.deliverMany(20), [200]);

    await disk?.cutPower();
    const during = host.deliverMany(20);
    await host.isReady(false);
    assert.deepEqual(await during, [503]);
    const stopped = await host.life.stop();

    assert.equal(stopped.signal, null);
    disk?.unmount();
    disk?.mount();
    host.restart();
    await host.isReady(true);
    const items = await host.handled();
    assert.deepEqual(
      host.acknowledged.filter((id) => items.get(id)?.state !== 'done'),
      [],
    );
  });
});

/** A file system in memory of so many MiB, mounted as a state folder. */
function memoryDisk(t: Cleanup, folder: string, megabytes: number): void {
  execFileSync('sh', [
    '-c',
    'mkdir -p -m 700 "$1" && mount -t tmpfs -o size="$2"m,mode=0700 none "$1"',
    'sh',
    folder,
    String(megabytes),
  ]);
  t.after(() => void execFileSync('umount', ['-l', folder]));
}

/** Writes until nothing more goes in. */
function fill(file: string): void {
  for (let block = 1_048_576; block >= 512; block /= 2) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(block), { flag: 'a' });
    } catch {
      // no room for a block of this size: a smaller one
    }
  }
}

/** Another program that takes the write lock of the database. */
function foreignLock(t: Cleanup, file: string): { lock(): Promise<void>; release(): Promise<void> } {
  const script = `import { Sqlite } from '${SQLITE}'; const db = new Sqlite(process.argv[1]); db.exec('BEGIN IMMEDIATE'); console.log('locked'); setInterval(() => {}, 1000);`;
  let child: ReturnType<typeof spawn> | undefined;
  const release = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  };
  t.after(release);
  return {
    async lock() {
      const started = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child = started;
      await new Promise((resolve) => started.stdout?.once('data', resolve));
    },
    release,
  };
}
