// The one parse of a request target, alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTarget } from '../../../worker/http/request/target.ts';

const pathOf = (raw: string): string | undefined => {
  const verdict = parseTarget(raw);
  return verdict.kind === 'target' ? verdict.target.path : undefined;
};
const queryOf = (raw: string): Readonly<Record<string, string>> | undefined => {
  const verdict = parseTarget(raw);
  return verdict.kind === 'target' ? { ...verdict.target.query } : undefined;
};

describe('parseTarget', () => {
  it('takes plain paths as they are', () => {
    for (const path of [
      '/',
      '/pub/health',
      '/api/endpoints/root/irc:irc~libera',
      "/a!$&'()*+,;=:@-._~",
      '/a/',
      '/.well-known/x',
      '/a..b',
      '/...',
    ]) {
      assert.equal(pathOf(path), path);
    }
  });

  it('decodes what needs an escape, once', () => {
    assert.equal(pathOf('/webhooks/%C3%A9'), '/webhooks/\u00e9');
    assert.equal(pathOf('/a%20b'), '/a b');
    assert.equal(pathOf('/a%3Fb'), '/a?b');
    assert.equal(pathOf('/api/endpoints/root/irc:irc%7Elibera%2Deu%5f1'), '/api/endpoints/root/irc:irc~libera-eu_1');
  });

  it('refuses escapes of what needs none, of separators, controls and of escapes (TARGET-1)', () => {
    for (const path of [
      '/%61',
      '/%41',
      '/%30',
      '/%2e',
      '/%2E%2E',
      '/%7a',
      '/a%2fb',
      '/a%5Cb',
      '/a%00',
      '/a%1f',
      '/a%7f',
      '/a%25%32%66',
      '/a%252f',
      '/a%c2%80',
      '/a%',
      '/a%e',
      '/a%zz',
      '/a%ff',
      '/a%ed%a0%80',
    ]) {
      assert.equal(pathOf(path), undefined, path);
    }
  });

  it('refuses empty and dot segments in every spelling (TARGET-1)', () => {
    for (const path of [
      '',
      '//',
      '//a',
      '/a//b',
      '/.',
      '/..',
      '/a/..',
      '/a/./b',
      '/a/../b',
      '/..;x/b',
      '/.;/b',
      '/%2e',
      '/a/%2e%2E/b',
      '/.%2e/b',
    ]) {
      assert.equal(pathOf(path), undefined, path);
    }
  });

  it('refuses other forms and foreign bytes (TARGET-1)', () => {
    for (const path of [
      '*',
      'a',
      'http://a/b',
      'a:80',
      '/a\\b',
      '/a#b',
      '/a b',
      '/a\u00e9',
      '/a"b',
      '/a<b',
      '/a{b}',
      '/a|b',
      '/a^b',
      '/a`b',
      '/a[b',
    ]) {
      assert.equal(pathOf(path), undefined, path);
    }
  });

  it('reads a query with each name once (TARGET-3)', () => {
    assert.deepEqual(queryOf('/a?b=1&c=x%20y+z&d&=')?.b ?? queryOf('/a?b=1&c=x%20y+z&d'), {
      b: '1',
      c: 'x y z',
      d: '',
    });
    assert.deepEqual(queryOf('/a?__proto__=1'), JSON.parse('{"__proto__":"1"}'));
    for (const query of ['a=1&a=2', 'a=%', 'a=%00', 'a=\u00e9', 'a#b', '=1', 'a=%ff']) {
      assert.equal(queryOf(`/a?${query}`), undefined, query);
    }
    assert.equal(queryOf(`/a?${Array.from({ length: 51 }, (_, n) => `p${n}`).join('&')}`), undefined);
  });

  it('is bounded', () => {
    assert.equal(parseTarget(`/${'a'.repeat(8_192)}`).kind, 'too_long');
  });
});
