// The log file as its writers see it: whole lines, through full disks, missing folders, too few descriptors and rotations.
import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { LogOutage } from '../../../shared/api/ipc.ts';
import { LogSink } from '../../../shared/log/log-sink.ts';
import { fillDisk, smallDisk, smallDiskMissing } from '../../support/disk/small-disk.ts';
import { until } from '../../support/until.ts';

const noSmallDisk = smallDiskMissing();

function openSink(t: TestContext, folder = folderOf(t)) {
  const file = join(folder, 'runtime.log');
  const outages: LogOutage[] = [];
  const sink = new LogSink({ destination: file, onRecovered: (outage) => outages.push(outage), retryMs: 20 });
  return { sink, file, folder, outages, lines: (name = file) => readFileSync(name, 'utf8').split('\n').slice(0, -1) };
}

/** What is mounted on it is gone before it is removed: hooks run in the order in which they were made. */
function folderOf(t: TestContext, prepare?: (folder: string) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sink-'));
  prepare?.(folder);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const numbered = (count: number, length = 200): string[] =>
  Array.from({ length: count }, (_, n) => `${n} ${'x'.repeat(length)}`);

describe('a log file on a disk without room', { skip: noSmallDisk }, () => {
  it('counts 10,000 lines that it does not take, and goes on by itself with one line about them', async (t) => {
    const folder = folderOf(t, (path) => smallDisk(t, path, { kilobytes: 256 }));
    const { sink, file, outages, lines } = openSink(t, folder);
    sink.write('before\n');
    fillDisk(join(folder, 'filler'));

    const all = numbered(10_000);
    for (const line of all) sink.write(`${line}\n`);
    const during = lines();
    assert.equal(outages.length, 0);
    rmSync(join(folder, 'filler'));
    rmSync(file);
    smallDisk(t, folder, { kilobytes: 8_192, remount: true });
    sink.reopen();
    const outage = await until(() => outages[0], { what: 'the end of the outage, without another line' });
    sink.write('after\n');

    const landed = lines();
    assert.equal(landed.at(-1), 'after');
    assert.equal(outage.lostLines + outage.lateLines + during.length - 1, 10_000);
    assert.equal(landed.length - 1, outage.lateLines);
    assert.equal(outage.reason, 'ENOSPC');
    assert.ok(outage.lostLines > 1_000 && Date.parse(outage.from) <= Date.parse(outage.to));
    assert.deepEqual([...during.slice(1), ...landed.slice(0, -1)], all.slice(0, during.length - 1 + outage.lateLines));
  });

  it('holds whole lines alone, though the last room took a part of one', (t) => {
    const folder = folderOf(t, (path) => smallDisk(t, path, { kilobytes: 64 }));
    const { sink, lines } = openSink(t, folder);

    for (const line of numbered(2_000, 977)) sink.write(`${line}\n`);

    const found = lines();
    assert.ok(found.length > 10 && found.length < 100);
    assert.deepEqual(found, numbered(found.length, 977));
  });
});

describe('a log file that cannot be opened', () => {
  it('takes what waited once its folder is there', async (t) => {
    const folder = join(folderOf(t), 'missing');
    const { sink, file, outages } = openSink(t, folder);
    sink.write('one\n');
    assert.equal(sink.descriptor, undefined);

    const { mkdirSync } = await import('node:fs');
    mkdirSync(folder);

    await until(() => outages.length === 1, { what: 'the end of the outage' });
    assert.equal(readFileSync(file, 'utf8'), 'one\n');
    assert.deepEqual([outages[0]?.lostLines, outages[0]?.lateLines, outages[0]?.reason], [0, 1, 'ENOENT']);
  });

  it('goes on in the old file while there is no descriptor for the new one, and loses nothing', async (t) => {
    const { sink, file, lines } = openSink(t);
    sink.write('one\n');
    renameSync(file, `${file}.1`);
    const taken = takeAllDescriptors();
    try {
      sink.reopen();
      sink.write('two\n');
    } finally {
      for (const descriptor of taken) closeSync(descriptor);
    }

    await until(() => existsSync(file), { what: 'the new file' });
    sink.write('three\n');
    assert.deepEqual([lines(`${file}.1`), lines()], [['one', 'two'], ['three']]);
  });

  it('follows a name that is gone, or that is another file', (t) => {
    const { sink, file, lines } = openSink(t);
    assert.equal(sink.follow(), false);
    renameSync(file, `${file}.1`);

    assert.equal(sink.follow(), true);
    sink.write('new\n');
    assert.equal(sink.follow(), false);

    assert.deepEqual([lines(`${file}.1`), lines()], [[], ['new']]);
  });

  it('follows a folder that is gone as soon as there is one again, and says so once', (t) => {
    const { sink, file, lines } = openSink(t);
    const folder = dirname(file);
    renameSync(folder, `${folder}-elsewhere`);
    t.after(() => rmSync(`${folder}-elsewhere`, { recursive: true }));
    assert.equal(sink.follow(), false);
    mkdirSync(folder);

    assert.equal(sink.follow(), true);
    sink.write('new\n');

    assert.equal(sink.follow(), false);
    assert.deepEqual(lines(), ['new']);
  });

  it('says of a file that it could open only later that it is another one', async (t) => {
    const { sink, file } = openSink(t);
    const folder = dirname(file);
    renameSync(folder, `${folder}-elsewhere`);
    t.after(() => rmSync(`${folder}-elsewhere`, { recursive: true }));
    sink.reopen();
    mkdirSync(folder);

    await until(() => existsSync(file), { what: 'the new file' });

    assert.deepEqual([sink.follow(), sink.follow()], [true, false]);
  });
});

describe('a log that goes to a descriptor', () => {
  it('goes on after the reason is gone, with one line about what was lost', {
    skip: !existsSync('/dev/full') && 'no /dev/full',
  }, (t) => {
    const folder = folderOf(t);
    const file = join(folder, 'out');
    symlinkSync('/dev/full', file);
    const outages: LogOutage[] = [];
    const sink = new LogSink({ destination: file, onRecovered: (outage) => outages.push(outage) });
    for (const line of numbered(3_000, 1_000)) sink.write(`${line}\n`);
    rmSync(file);
    sink.reopen();

    sink.write('now\n');
    sink.flush();

    assert.equal(outages.length, 1);
    const landed = readFileSync(file, 'utf8').trimEnd().split('\n');
    assert.equal(landed.length - 1 + (outages[0]?.lostLines ?? 0), 3_000);
  });
});

/** Opens so many files that no more can be opened. */
function takeAllDescriptors(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    return taken;
  }
}
