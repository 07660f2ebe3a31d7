// The table of requirements against the tests that there are. Numbers that no entry maps yet show as todo.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CONTRACT } from './contract-requirements.ts';
import { FAULT_NUMBERS, FAULTS } from './faults.ts';
import { PLATFORM_CLAUSES } from './platform-clauses.ts';
import { PLATFORMS } from './platform-requirements.ts';
import { INPUT_COUNT, REQUIREMENTS, WITHOUT_FEATURE } from './requirements.ts';

const TESTS = join(import.meta.dirname, '..');
const TITLE = /\b(?:it|test)\(\s*(['"`])(.*?)\1,/g;

const ALL = [...REQUIREMENTS, ...FAULTS, ...CONTRACT, ...PLATFORMS, ...PLATFORM_CLAUSES];

/** What the suite of adapters tries with each of them (test/contract/adapter-*.test.ts). */
const PROMISES = join(TESTS, '../worker/sdk/testing/contract');
const PROMISE = /\btitle:\s*(['"`])(.*?)\1,/g;

const titlesIn = (file: string, title: RegExp): string[] =>
  [...readFileSync(file, 'utf8').matchAll(title)].map(([, , text = '']) => text);

/** Titles of all tests, as they are written. */
const titles = new Set([
  ...readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => titlesIn(join(TESTS, name), TITLE)),
  ...readdirSync(PROMISES).flatMap((name) => titlesIn(join(PROMISES, name), PROMISE)),
]);

describe('every requirement has a test', () => {
  for (const { id, tests } of ALL) {
    it(id, () => {
      assert.ok(tests.length > 0);
      assert.deepEqual(
        tests.filter((title) => !titles.has(title)),
        [],
        'no test has this title',
      );
    });
  }

  it('names each requirement once', () => {
    const ids = ALL.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('maps every number of the faults', () => {
    assert.deepEqual(
      FAULTS.map(({ id }) => id),
      FAULT_NUMBERS.map((number) => `fault ${number}`),
    );
  });

  it('maps every title with the number of a fault', () => {
    const missing = FAULTS.flatMap(({ id, tests }) => {
      const numbered = new RegExp(`\\((?:[A-Z\\d]+, )*${id.slice('fault '.length)}(?:[,:] ?[A-Z\\d]+)*\\)$`);
      return [...titles].filter((title) => numbered.test(title) && !tests.includes(title));
    });
    assert.deepEqual(missing, []);
  });

  for (let number = 1; number <= INPUT_COUNT; number += 1) {
    const isMapped = REQUIREMENTS.some(({ id }) => id === `input ${number}`);
    if (!isMapped && WITHOUT_FEATURE[number] === undefined)
      it(`input ${number}`, { todo: 'no test is mapped' }, () => {});
  }
});
