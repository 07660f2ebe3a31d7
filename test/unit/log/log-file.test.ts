// A log file as `svc runtime logs` reads it, while somebody else writes and rotates it.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { LogFile } from '../../../supervisor/cli/output/log-file.ts';

function logOf(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-file-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'log');
  for (const [end, text] of Object.entries(files)) writeFileSync(path + end, text);
  const log = new LogFile(path);
  const all = (): boolean => true;
  return {
    path,
    log,
    last: (count: number | undefined, accepts: (line: string) => boolean = all) => [...log.last(count, accepts)].flat(),
    next: () => [...log.next()].flat(),
    rotate: (from: string, to: string) => renameSync(path + from, path + to),
  };
}

/** Each file to the next name, the oldest first. */
const ALL_ON = [
  ['.2', '.3'],
  ['.1', '.2'],
  ['', '.1'],
] as const;

describe('a log file that is read', () => {
  it('gives every line once, over rotations and half lines (LOG-FILE-1, LOG-FILE-2)', (t) => {
    const { path, last, next, rotate } = logOf(t, { '.1': '1\n2\n', '': '3\n4' });
    const seen = [last(100)];
    appendFileSync(path, '\n5\n');
    seen.push(next());
    appendFileSync(path, '6\n');
    rotate('.1', '.2');
    rotate('', '.1');
    writeFileSync(path, '7\n');
    appendFileSync(`${path}.1`, 'late\n');
    seen.push(next());
    appendFileSync(`${path}.1`, 'later\n');
    seen.push(next(), next());

    assert.deepEqual(seen, [['1', '2', '3'], ['4', '5'], ['6', 'late', '7'], ['later'], []]);
  });

  it('gives no line before one that was written earlier, though a worker goes on in the former file (LOG-FILE-6)', (t) => {
    const { path, log, last, next, rotate } = logOf(t, { '': '1\n' });
    last(100);
    appendFileSync(path, '2\n');
    rotate('', '.1');
    writeFileSync(path, '');
    const seen: string[] = [];
    for (const lines of log.next()) {
      if (seen.length === 0) {
        appendFileSync(`${path}.1`, '3\n'); // the worker has not reopened the log yet
        appendFileSync(path, '4\n'); // now it has
      }
      seen.push(...lines);
    }
    seen.push(...next());

    assert.deepEqual(seen, ['2', '3', '4']);
  });

  it('reads all that came and went between two looks, and says when some may be gone (LOG-FILE-1, LOG-FILE-4)', (t) => {
    const { path, log, last, next, rotate } = logOf(t, { '': '1\n' });
    last(100);
    rotate('', '.3');
    writeFileSync(`${path}.2`, '2\n');
    writeFileSync(`${path}.1`, '3\n');
    writeFileSync(path, '4\n');
    assert.deepEqual([next(), log.hasGap()], [['2', '3', '4'], false]);

    appendFileSync(path, '5\n');
    rmSync(path);
    writeFileSync(`${path}.1`, '8\n');
    rmSync(`${path}.2`);
    rmSync(`${path}.3`);
    writeFileSync(path, '9\n');

    assert.deepEqual([next(), log.hasGap(), log.hasGap()], [['5', '8', '9'], true, false]);
  });

  for (const count of [100, undefined])
    it(`gives every line once when it is rotated while the last ${count ?? 'of all'} are looked for (LOG-FILE-1, LOG-FILE-5)`, (t) => {
      const { path, last, next, rotate } = logOf(t, { '.2': '1\n', '.1': '2\n', '': '3\n' });
      let looks = 0;
      const seen = [
        last(count, () => {
          looks += 1;
          if (looks > 1) return true;
          for (const [from, to] of ALL_ON) rotate(from, to);
          writeFileSync(path, '4\n');
          return true;
        }),
      ];
      seen.push(next());

      assert.deepEqual(seen, [['1', '2', '3'], ['4']]);
    });

  it('gives every line once when it is rotated while what is new is read (LOG-FILE-1, LOG-FILE-5)', (t) => {
    const { path, log, last, next, rotate } = logOf(t, { '': '1\n' });
    last(100);
    rotate('', '.2');
    writeFileSync(`${path}.1`, '2\n');
    writeFileSync(path, '3\n');
    const seen: string[] = [];
    for (const lines of log.next()) {
      seen.push(...lines);
      if (seen.length > 1) continue;
      for (const [from, to] of ALL_ON) rotate(from, to);
      writeFileSync(path, '4\n');
    }

    assert.deepEqual([seen, next(), log.hasGap()], [['2', '3'], ['4'], false]);
  });

  it('finds files on the other side of a name that a rotation has just left (LOG-FILE-5)', (t) => {
    const { last } = logOf(t, { '.4': '1\n', '.3': '2\n', '.1': '3\n', '': '4\n' });

    assert.deepEqual(last(undefined), ['1', '2', '3', '4']);
  });

  it('finds the last lines that are accepted from the end, over pieces, files and characters of several bytes (LOG-FILE-3)', (t) => {
    const lines = Array.from({ length: 30_000 }, (_, n) => `${n} ${'ö€😀'.repeat(n % 7)}${'x'.repeat(n % 40)}`);
    const { last } = logOf(t, {
      '.2': `${lines.slice(0, 10_000).join('\n')}\n`,
      '.1': `${lines.slice(10_000, 20_000).join('\n')}\n`,
      '': `${lines.slice(20_000).join('\n')}\n`,
    });

    assert.deepEqual(last(15_000), lines.slice(-15_000));
    assert.deepEqual(
      last(30, (line) => line.startsWith('1')),
      lines.filter((line) => line.startsWith('1')).slice(-30),
    );
    assert.deepEqual(last(undefined), lines);
    assert.deepEqual(last(0), []);
  });

  it('goes on after the file was cut, which it tells, is not there yet, or is gone for a while (LOG-FILE-4)', (t) => {
    const { path, log, last, next } = logOf(t, {});
    assert.deepEqual([last(10), next()], [[], []]);
    writeFileSync(path, '1\n2\n');
    assert.deepEqual(next(), ['1', '2']);
    assert.equal(log.hasGap(), false);
    truncateSync(path);
    assert.deepEqual([next(), log.hasGap(), log.hasGap()], [[], true, false]);
    appendFileSync(path, '3\n');
    assert.deepEqual(next(), ['3']);
    rmSync(path);
    assert.deepEqual(next(), []);
    writeFileSync(path, '4\n');

    assert.deepEqual(next(), ['4']);
  });
});
