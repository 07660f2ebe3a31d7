// Tests measure no time: a slow machine would fail them. The linter forbids the clocks that only measure (eslint/no-restricted-properties), and tells
// where one may stand; the time of day is also told to what is tested, so that here only a difference of it to a noted one is found.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sourceFiles } from './source-tree.ts';

/** Where the time of day is measured, and why. */
const MEASURES: Readonly<Record<string, string>> = {
  'test/kits/crash/kit/slow-post.ts': 'a signature is refused for its age, which is none of the host',
};
const NOTED = /\b(\w+) = Date\.now\(\)/g;

/** Names that a file gives to a moment, and takes from a later one. */
function measured(text: string): readonly string[] {
  return [...text.matchAll(NOTED)].map(([, name = '']) => name).filter((name) => text.includes(`Date.now() - ${name}`));
}

describe('tests', () => {
  it('measure no time of day', () => {
    const found = sourceFiles(['test'])
      .filter(({ path }) => !path.startsWith('test/bench/') && !path.startsWith('test/rules/'))
      .filter(({ text }) => measured(text).length > 0)
      .map(({ path }) => path);

    assert.deepEqual(found, Object.keys(MEASURES));
  });

  it('would be found', () => {
    assert.deepEqual(measured('const from = Date.now();\nassert.ok(Date.now() - from < 5);'), ['from']);
    assert.deepEqual(measured('const hourAgo = Date.now() - 3_600_000;'), []);
  });
});
