// A copy of the database is of one moment, writing goes on meanwhile, and nothing that happens to the copy stops the host.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Sqlite } from '../../../shared/sqlite.ts';
import { openCopy } from '../../../worker/database/sqlite/connection.ts';
import type { SnapshotWriter } from '../../../worker/database/unit.ts';
import { copyDatabase } from '../../../worker/recovery/checkpoint/copy-database.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import { type CopyHost, copyHost, faultsOf } from '../../support/recovery/copy-host.ts';
import { ofRun } from '../../support/run-length.ts';
import { until } from '../../support/until.ts';

const MIB = 1_048_576;
const COPIES = Number(process.env['SVC_RECOVERY_MOMENTS'] ?? ofRun({ short: 4, long: 20 }));

function targetIn({ folder }: CopyHost, name = 'c1'): string {
  const part = join(folder, 'checkpoints', `${name}.part`);
  mkdirSync(part, { recursive: true });
  return join(part, 'data.sqlite');
}

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

/** A hold that notes the position of the load, as the parent reads it. */
const noting =
  (host: CopyHost, noted: number[]): SnapshotWriter['hold'] =>
  (work) =>
    host.host.hold(async (signal) => {
      noted.push(host.position());
      return work(signal);
    });

/** A copy whose process stands still once its moment is fixed. */
function stoppedCopy(host: CopyHost, maxBytes = 1024 * MIB) {
  const target = targetIn(host);
  const position: number[] = [];
  let pid = 0;
  let isBegun = (): void => {};
  const begun = new Promise<void>((resolve) => (isBegun = resolve));
  const hold = noting(host, position);
  const copy = copyDatabase({
    file: host.file,
    target,
    hold: async (work) => {
      const answer = await hold(work);
      process.kill(pid, 'SIGSTOP');
      isBegun();
      return answer;
    },
    pin: () => host.host.pinLog({ maxBytes }),
    onStart: (started) => void (pid = started),
  });
  copy.catch(() => {}); // each test looks at it
  return { target, copy, begun, pid: () => pid, position: () => position[0] as number };
}

/** Of the WAL, in frames: all, and those that a checkpoint has copied. `mode`: what another program asks of it. */
function logOf(
  { file }: CopyHost,
  mode: 'NOOP' | 'PASSIVE' = 'NOOP',
): { readonly log: number; readonly checkpointed: number } {
  const database = new Sqlite(file, { readonly: mode === 'NOOP' });
  try {
    database.prepare('SELECT count(*) FROM meta').get();
    return (database.pragma(`wal_checkpoint(${mode})`) as { log: number; checkpointed: number }[])[0] as never;
  } finally {
    database.close();
  }
}

describe('a copy of the database', () => {
  it(`is of one moment, ${COPIES} times while units are committed`, async (t) => {
    const host = await copyHost(t);
    const stop = host.load();
    const faults: string[][] = [];
    for (let n = 0; n < COPIES; n += 1) {
      const target = targetIn(host, `c${n}`);
      const noted: number[] = [];
      const copy = await copyDatabase({
        file: host.file,
        target,
        hold: noting(host, noted),
        pin: () => host.host.pinLog({ maxBytes: 1024 * MIB }),
      });
      faults.push(faultsOf(target, { copy, position: noted[0] as number }));
      assert.deepEqual(readdirSync(join(target, '..')), ['data.sqlite']);
    }
    await stop();

    assert.deepEqual(
      faults,
      Array.from({ length: COPIES }, () => []),
    );
    assert.equal(host.position(), host.committed());
  });

  it('that was made without a hold is found by the same look', async (t) => {
    const host = await copyHost(t);
    const stop = host.load();
    const target = targetIn(host);
    let position = 0;
    const copy = await copyDatabase({
      file: host.file,
      target,
      hold: async (work) => {
        position = host.position();
        await host.put();
        return work(new AbortController().signal);
      },
    });
    await stop();

    assert.notDeepEqual(faultsOf(target, { copy, position }), []);
  });

  it('lets units be committed once its moment is fixed, however long it takes', async (t) => {
    const host = await copyHost(t);
    await host.put();
    const { target, copy, begun, pid, position } = stoppedCopy(host);
    await begun;
    for (let n = 0; n < 20; n += 1) await host.put();
    process.kill(pid(), 'SIGCONT');

    const made = await copy;

    assert.equal(position(), 1);
    assert.deepEqual(faultsOf(target, { copy: made, position: 1 }), []);
    assert.equal(host.position(), 21);
    assert.ok(isGone(pid()));
  });

  it('is damaged where its WAL has a frame that is not whole: SQLite leaves out what follows, and says nothing', async (t) => {
    const host = await copyHost(t);
    for (let n = 0; n < 3; n += 1) await host.put();
    const copy = targetIn(host);
    const { log } = logOf(host);
    const damaged = readFileSync(`${host.file}-wal`);
    damaged.writeUInt8(damaged.readUInt8(3_000) ^ 1, 3_000);
    const open = (content: Buffer): void => {
      copyFileSync(host.file, copy);
      writeFileSync(`${copy}-wal`, content);
      openCopy(copy, log).close();
    };

    open(readFileSync(`${host.file}-wal`));

    assert.throws(() => open(damaged), {
      code: 'database_corrupt',
      message: /the WAL of the copy has 0 of \d+ frames/,
    });
  });

  for (const isEmpty of [false, true])
    it(`is of its moment though another program checkpoints meanwhile, with ${isEmpty ? 'an empty' : 'a'} WAL before`, async (t) => {
      const host = await copyHost(t);
      for (let n = 0; n < 3; n += 1) await host.put(MIB);
      if (isEmpty) assert.equal(logOf(host, 'PASSIVE').checkpointed, logOf(host).log);
      const { target, copy, begun, pid, position } = stoppedCopy(host);
      await begun;
      const before = logOf(host);
      for (let n = 0; n < 3; n += 1) await host.put(MIB);
      const { log, checkpointed } = logOf(host, 'PASSIVE');
      await host.put(MIB);
      process.kill(pid(), 'SIGCONT');

      const made = await copy;

      assert.deepEqual(faultsOf(target, { copy: made, position: position() }), []);
      assert.equal(position(), 3);
      // With all brought over, the next commit begins the WAL anew; else a checkpoint goes as far as the moment.
      assert.ok(
        isEmpty ? log < before.log * 2 && checkpointed === 0 : checkpointed === before.log,
        `${log} ${checkpointed}`,
      );
      assert.deepEqual(readdirSync(join(target, '..')), ['data.sqlite']);
    });

  it('runs no checkpoint meanwhile, and one afterwards', async (t) => {
    const host = await copyHost(t);
    const { copy, begun, pid } = stoppedCopy(host);
    await begun;
    const { checkpointed } = logOf(host);
    for (let n = 0; n < 24; n += 1) await host.put(MIB);
    const during = logOf(host);
    process.kill(pid(), 'SIGCONT');
    await copy;
    await host.put();
    await host.put();
    const after = logOf(host);

    assert.ok(during.log > 2_000, `${during.log} frames`);
    assert.equal(during.checkpointed, checkpointed);
    assert.ok(after.log - after.checkpointed < 2_000, JSON.stringify(after));
  });

  it('is given up once the log is longer than allowed; then checkpoints run again', async (t) => {
    const host = await copyHost(t);
    const { copy, begun, pid } = stoppedCopy(host, 20 * MIB);
    await begun;
    for (let n = 0; n < 24; n += 1) await host.put(MIB);

    await assert.rejects(copy, { code: 'overloaded', message: /recovery\.maxLogBytes/ });

    assert.ok(isGone(pid()));
    await host.put();
    await host.put();
    const { log, checkpointed } = logOf(host);
    assert.ok(log - checkpointed < 2_000, `${log} ${checkpointed}`);
    await (await host.host.pinLog({ maxBytes: MIB })).release(); // the next copy may pin again
  });

  it('that hangs while the writer is held is given up, and units go on', async (t) => {
    const clock = new ManualClock(Date.now());
    const host = await copyHost(t, clock);
    let pid = 0;
    let isHeld = (): void => {};
    const held = new Promise<void>((resolve) => (isHeld = resolve));
    const copy = copyDatabase({
      file: host.file,
      target: targetIn(host),
      hold: (work) =>
        host.host.hold((signal) => {
          process.kill(pid, 'SIGSTOP');
          isHeld();
          return work(signal);
        }),
      pin: () => host.host.pinLog({ maxBytes: MIB }),
      onStart: (started) => void (pid = started),
      clock,
    });
    copy.catch(() => {});
    await held;
    const queued = host.put();
    assert.equal(host.committed(), 0);
    clock.moveTo(clock.now() + 60_000);

    await assert.rejects(copy, { code: 'timeout', message: /writing went on/ });
    await queued;

    assert.equal(host.position(), 1);
    assert.ok(isGone(pid));
  });

  it('whose process is killed leaves the writer going on, and the next copy is made', async (t) => {
    const host = await copyHost(t);
    const { copy, begun, pid } = stoppedCopy(host);
    await begun;
    process.kill(pid(), 'SIGKILL');

    await assert.rejects(copy, { code: 'internal', message: /SIGKILL/ });

    await host.put();
    const target = targetIn(host, 'c2');
    const made = await copyDatabase({ file: host.file, target, hold: (work) => host.host.hold(work) });
    assert.deepEqual(faultsOf(target, { copy: made, position: 1 }), []);
  });

  it('is given up once a write fails, since the repair needs the log', async (t) => {
    const host = await copyHost(t);
    for (let n = 0; n < 5; n += 1) await host.put();
    const { copy, begun, pid } = stoppedCopy(host);
    await begun;
    rmSync(`${host.file}-wal`);
    await host.put().catch(() => {});

    await assert.rejects(copy, { code: 'storage_unavailable' });

    assert.ok(isGone(pid()));
    await until(() => host.put().then(() => true), { what: 'the writer to go on' });
    assert.equal(host.position(), host.committed());
  });

  it('is refused without room for it, before anything is written', async (t) => {
    const host = await copyHost(t);
    const sparse = join(host.folder, 'large.sqlite');
    writeFileSync(sparse, '');
    const { bavail, bsize } = statfsSync(host.folder);
    truncateSync(sparse, bavail * bsize);
    const target = targetIn(host);

    await assert.rejects(copyDatabase({ file: sparse, target }), {
      code: 'storage_unavailable',
      message: /no room for a copy of large\.sqlite: [\d,]+ MiB are needed, [\d,]+ MiB are free/,
    });

    assert.deepEqual(readdirSync(join(target, '..')), []);
  });

  it('is refused where a reader would block every commit: without a WAL', async (t) => {
    const host = await copyHost(t);
    const file = join(host.folder, 'other.sqlite');
    const other = new Sqlite(file);
    other.exec('CREATE TABLE t (x)');
    other.close();

    await assert.rejects(copyDatabase({ file, target: targetIn(host), hold: (work) => host.host.hold(work) }), {
      code: 'refused',
      message: /no WAL/,
    });
  });

  it('ends with the process that asked for it', async (t) => {
    const host = await copyHost(t);
    const child = fork(fileURLToPath(new URL('../../../dist/copy-child.js', import.meta.url)));
    t.after(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    child.send({ kind: 'open', file: host.file, target: targetIn(host) });
    assert.deepEqual((await once(child, 'message'))[0], { kind: 'opened' });
    child.send({ kind: 'begin' });
    await once(child, 'message');
    child.disconnect(); // as the kernel does for a parent that was killed

    await exit;

    await host.put();
    assert.equal(host.position(), 1);
  });

  it('ends with its signal', async (t) => {
    const host = await copyHost(t);
    const end = new AbortController();
    let pid = 0;
    const copy = copyDatabase({
      file: host.file,
      target: targetIn(host),
      hold: async (work) => {
        const answer = await host.host.hold(work);
        end.abort(new Error('the host stops'));
        return answer;
      },
      onStart: (started) => void (pid = started),
      signal: end.signal,
    });

    await assert.rejects(copy, { message: 'the host stops' });

    await until(() => isGone(pid), { what: 'the end of the process' });
    await host.put();
    assert.equal(host.position(), 1);
  });

  it('of a database that nobody writes needs neither hold nor pin', async (t) => {
    const host = await copyHost(t);
    await host.put();
    await host.host.close();
    const target = targetIn(host);

    const copy = await copyDatabase({ file: host.file, target });

    assert.deepEqual(faultsOf(target, { copy, position: 1 }), []);
    assert.equal(existsSync(`${host.file}-wal`), false);
  });

  it('leaves nothing on the signal that it was given, which lives as long as the host', async (t) => {
    const host = await copyHost(t);
    const { signal } = new AbortController();

    await copyDatabase({
      file: host.file,
      target: targetIn(host),
      hold: noting(host, []),
      pin: () => host.host.pinLog({ maxBytes: 1024 * MIB }),
      signal,
    });

    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
