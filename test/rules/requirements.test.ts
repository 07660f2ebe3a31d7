// The table of requirements against the tests that there are. A number that no entry maps fails, unless it says why there is none.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { configSchema } from '../../shared/config/schema/schema.ts';
import { HTTP, ROWS, WITHOUT_ROW } from './contract-http.ts';
import { KEYS, WITHOUT_KEY } from './contract-keys.ts';
import { PROCESSES } from './contract-processes.ts';
import { CONTRACT } from './contract-requirements.ts';
import { COMMANDS, FRAMES, METRICS, STATE, WITHOUT_PART } from './contract-state.ts';
import { FAULT_NUMBERS, FAULTS } from './faults.ts';
import { HOSTILE_HTTP } from './hostile-http.ts';
import { CHECKLISTS, HOSTILE_SECRETS, WITHOUT_RULE } from './hostile-secrets.ts';
import { PLATFORM_CLAUSES } from './platform-cells.ts';
import { PLATFORMS } from './platform-requirements.ts';
import {
  INPUT_COUNT,
  REQUIREMENTS,
  type Requirement,
  SECTIONS,
  type TitleIn,
  WITHOUT_FEATURE,
} from './requirements.ts';

const TESTS = join(import.meta.dirname, '..');
const TITLE = /\b(?:it|test)\(\s*(['"`])(.*?)\1,/g;

const OF_CONTRACT = [...CONTRACT, ...PROCESSES, ...KEYS, ...HTTP, ...STATE];
const OF_HOSTILE = [...HOSTILE_HTTP, ...HOSTILE_SECRETS];
const ALL = [...REQUIREMENTS, ...FAULTS, ...OF_CONTRACT, ...OF_HOSTILE, ...PLATFORMS, ...PLATFORM_CLAUSES];
/** What is not there, and why: none of these may have a test as well. */
const WITHOUT: Readonly<Record<string, string>> = { ...WITHOUT_KEY, ...WITHOUT_ROW, ...WITHOUT_PART, ...WITHOUT_RULE };

/** What the suite of adapters tries with each of them (test/contract/adapter-*.test.ts). */
const PROMISES = join(TESTS, '../worker/testing/adapter-suite');
const PROMISE = /\btitle:\s*(['"`])(.*?)\1,/g;

const titlesIn = (file: string, title: RegExp): string[] =>
  [...readFileSync(file, 'utf8').matchAll(title)].map(([, , text = '']) => text);

/** Titles of all tests as they are written, each with the files in which it stands. */
const titles = new Map<string, Set<string>>();
for (const name of readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.test.ts'),
))
  for (const title of titlesIn(join(TESTS, name), TITLE)) note(title, name);
for (const name of readdirSync(PROMISES))
  for (const title of titlesIn(join(PROMISES, name), PROMISE)) note(title, name);

function note(title: string, file: string): void {
  titles.set(title, (titles.get(title) ?? new Set()).add(file.replaceAll('\\', '/')));
}

const titleOf = (test: Requirement['tests'][number]): string => (typeof test === 'string' ? test : test.title);

/** What is wrong with a test that is named; undefined: nothing. */
function faultOf(test: Requirement['tests'][number]): string | undefined {
  const files = titles.get(titleOf(test));
  if (files === undefined) return `no test has the title "${titleOf(test)}"`;
  if (typeof test !== 'string') return faultIn(test, files);
  return files.size === 1 ? undefined : `"${test}" must be given with its file: it stands in ${[...files].join(', ')}`;
}

function faultIn({ file, title, cases = [] }: TitleIn, files: ReadonlySet<string>): string | undefined {
  if (!files.has(file)) return `${file} has no test "${title}"`;
  const text = readFileSync(join(TESTS, file), 'utf8');
  const missing = cases.filter((name) => !text.includes(`'${name}'`));
  return missing.length === 0 ? undefined : `${file} has no case ${missing.join(', ')}`;
}

describe('every requirement has a test', () => {
  for (const { id, tests } of ALL) {
    it(id, () => {
      assert.ok(tests.length > 0);
      assert.deepEqual(
        tests.map((test) => faultOf(test)).filter((fault) => fault !== undefined),
        [],
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
      const named = tests.map((test) => titleOf(test));
      return [...titles.keys()].filter((title) => numbered.test(title) && !named.includes(title));
    });
    assert.deepEqual(missing, []);
  });

  for (const section of SECTIONS)
    it(`maps something of each section: ${section}`, () => {
      assert.ok(ALL.some(({ id }) => id.startsWith(`${section}: `)));
    });

  for (const [what, names] of Object.entries({
    'row of the contract: HTTP': ROWS,
    'control frame of the stream': FRAMES,
    'command of the contract': COMMANDS,
    'metric of the contract': METRICS,
    'number of the checklists': CHECKLISTS,
    'key of the configuration': keysOf(configSchema),
  }))
    it(`maps every ${what}, or says why there is none`, () => {
      const ids = new Set(ALL.map(({ id }) => id));
      assert.deepEqual(
        names.filter((name) => !ids.has(name) && WITHOUT[name] === undefined),
        [],
      );
    });

  it('maps nothing that is said not to be there', () => {
    assert.deepEqual(
      ALL.filter(({ id }) => WITHOUT[id] !== undefined).map(({ id }) => id),
      [],
    );
    assert.ok(Object.values(WITHOUT).every((reason) => reason !== ''));
  });

  for (let number = 1; number <= INPUT_COUNT; number += 1) {
    const isMapped = REQUIREMENTS.some(({ id }) => id === `input ${number}`);
    if (!isMapped && WITHOUT_FEATURE[number] === undefined)
      it(`input ${number}`, () => assert.fail('no test is mapped, and no reason is given'));
  }
});

/** Keys of the configuration by their places; of a list, and of what plugins bring, the key itself. */
function keysOf({ properties }: { readonly properties?: object }, at = ''): readonly string[] {
  return Object.entries(properties ?? {}).flatMap(([name, schema]: [string, { readonly properties?: object }]) =>
    schema.properties === undefined ? [`key ${at}${name}`] : keysOf(schema, `${at}${name}.`),
  );
}
