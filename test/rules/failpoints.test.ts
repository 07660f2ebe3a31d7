// The points at which the crash kit kills, and the faults that it plants, against those that the sources have: one that nobody asks for is
// not tested, and one that is not there is asked for in vain.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ELSEWHERE, IN_PROCESS, PLANTS, STEPS } from '../kits/crash/kit/kill-plan.ts';
import { sourceFiles } from './source-tree.ts';

const TESTS = join(import.meta.dirname, '..');
/** `point('name')`, `this.#point?.('name')`, point(`name:${step}`). */
const NAMED = /\bpoint\??\.?\(\s*(?:'([^']+)'|`([^`$]+)(?:\$\{\w+\})?`)\s*\)/g;
const CALL = /(?<![\w.#])(?:\w+\.|this\.#?\w+\.)*#?point\??\.?\((?!\s*\))/g;

const testText = (file: string): string => readFileSync(join(TESTS, file), 'utf8');

const files = sourceFiles(['worker']).filter(({ path }) => !path.startsWith('worker/testing/'));
const named = files.flatMap(({ text }) => [...text.matchAll(NAMED)].map(([, plain, open]) => plain ?? open ?? ''));
const plants = readdirSync(join(TESTS, 'kits/crash/kit/plants')).flatMap((name) =>
  [...testText(`kits/crash/kit/plants/${name}`).matchAll(/\bplanted\('([\w-]+)'\)/g)].map(([, plant = '']) => plant),
);

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].toSorted();

describe('the points at which the crash kit kills', () => {
  it('are those of the sources, each of which some test asks for', () => {
    assert.deepEqual(sorted(named), sorted([...STEPS, ...Object.keys(ELSEWHERE), ...Object.keys(IN_PROCESS)]));
  });

  it('are told by their names: a call that computes one would not be seen here', () => {
    const computed = files.flatMap(({ path, text }) => {
      const calls = [...text.matchAll(CALL)].length;
      const known = [...text.matchAll(NAMED)].length;
      return calls === known ? [] : [`${path}: ${calls} calls, ${known} names`];
    });

    assert.deepEqual(computed, []);
  });

  it('that lie on no way of a message are asked for by the test that is named for them', () => {
    for (const [point, file] of Object.entries(ELSEWHERE)) {
      const asked = new RegExp(point.endsWith(':') ? `'${point}\\w+'` : `'${point}=kill`);
      assert.match(testText(file), asked, point);
    }
  });

  it('of a host in the process of its test are asked for by the test that is named for them', () => {
    for (const [point, file] of Object.entries(IN_PROCESS)) assert.ok(testText(file).includes(`'${point}'`), point);
  });
});

describe('the faults that the crash kit plants', () => {
  it('are those of its decorators, each of which the test that is named for it plants', () => {
    assert.deepEqual(sorted(plants), sorted(Object.keys(PLANTS)));
    for (const [plant, file] of Object.entries(PLANTS)) assert.ok(testText(file).includes(`'${plant}'`), plant);
  });
});
