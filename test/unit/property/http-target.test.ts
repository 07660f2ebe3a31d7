// The one parse of a target against the URL parser of Node: where ours takes a target, both read the same path.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { array, assert as check, constantFrom, json, property } from 'fast-check';
import { readStrictJson } from '../../../worker/http/request/strict-json.ts';
import { parseTarget } from '../../../worker/http/request/target.ts';
import { ofRun } from '../../support/run-length.ts';

const piece = constantFrom(
  '/',
  '.',
  '..',
  '%2e',
  '%2F',
  '%5c',
  '%00',
  '%41',
  '%20',
  '%c3%a9',
  '\\',
  ';',
  ':',
  '?',
  '&',
  '=',
  '#',
  'a',
  'api',
  'pub',
  '//',
  '%',
  '@',
);

describe('parseTarget', () => {
  it('never reads another path than a URL parser does (TARGET-1)', () => {
    check(
      property(array(piece, { maxLength: 12 }), (pieces) => {
        const raw = `/${pieces.join('')}`;
        const verdict = parseTarget(raw);
        if (verdict.kind !== 'target') return;
        const url = new URL(`http://host${raw}`);
        assert.equal(url.host, 'host');
        assert.equal(decodeURIComponent(url.pathname), verdict.target.path);
        assert.equal(new URL(raw, 'http://host').pathname, url.pathname);
        assert.deepEqual({ ...verdict.target.query }, Object.fromEntries(url.searchParams));
      }),
      { numRuns: ofRun({ short: 600, long: 2_000 }) },
    );
  });
});

describe('readStrictJson', () => {
  it('reads what JSON.parse reads, of documents without its traps', () => {
    check(
      property(json({ maxDepth: 5 }), (text) => {
        const verdict = readStrictJson(Buffer.from(text));
        const parsed = JSON.parse(text) as unknown;
        if (verdict.kind === 'value') assert.deepEqual(verdict.value, parsed);
        else assert.match(text, /__proto__|constructor|prototype|\\u[dD]|[^\u0000-\u007f]|[eE]/);
      }),
      { numRuns: ofRun({ short: 300, long: 1_000 }) },
    );
  });

  it('never throws and never takes what JSON.parse refuses', () => {
    const token = constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '1',
      '-',
      '1e999',
      'null',
      '"\\u',
      '\\',
      '"',
      ' ',
      'true',
    );
    check(
      property(array(token, { maxLength: 14 }), (tokens) => {
        const text = tokens.join('');
        const verdict = readStrictJson(Buffer.from(text));
        if (verdict.kind === 'value') assert.deepEqual(verdict.value, JSON.parse(text));
      }),
      { numRuns: ofRun({ short: 600, long: 2_000 }) },
    );
  });
});
