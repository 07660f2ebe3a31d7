// The page of guarantees of the operator's guide: each row names a test that there is.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from './source-tree.ts';

const TESTS = join(ROOT, 'test');
/** | guarantee | `file.test.ts` | title | */
const ROW = /^\| (?<promise>.+?) +\| `(?<file>[\w.-]+\.test\.ts)` +\| (?<title>.+?) +\|$/;

const rows = readFileSync(join(ROOT, 'deploy/guide/guarantees.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:guarantee |---)/.test(line));
const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' });

/** The page names a file without its folder; files of one name are told apart by the title. */
const holds = (file: string, title: string): boolean =>
  files
    .filter((path) => basename(path) === file)
    .some((path) => {
      const text = readFileSync(join(TESTS, path), 'utf8');
      return ["'", '"', '`'].some((quote) => text.includes(`(${quote}${title}${quote},`));
    });

describe('the page of guarantees', () => {
  it('names a test file and a title in each row', () => {
    assert.ok(rows.length >= 50);
    assert.deepEqual(
      rows.filter((row) => !ROW.test(row)),
      [],
    );
  });

  it('names tests that there are', () => {
    const missing = rows.filter((row) => {
      const { file = '', title = '' } = ROW.exec(row)?.groups ?? {};
      return !holds(file, title);
    });

    assert.deepEqual(missing, []);
  });
});
