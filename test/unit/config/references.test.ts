import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lookUp, readAs, readReferences } from '../../../shared/config/references.ts';

describe('readReferences', () => {
  it('leaves a text without references alone', () => {
    assert.deepEqual(readReferences('a $ b {c}'), { kind: 'plain', text: 'a $ b {c}' });
  });

  it('knows a value that is one reference', () => {
    assert.deepEqual(readReferences('${PORT}'), { kind: 'template', parts: [{ name: 'PORT' }], whole: true });
    assert.deepEqual(readReferences('${PORT:-80}'), {
      kind: 'template',
      parts: [{ name: 'PORT', fallback: '80' }],
      whole: true,
    });
  });

  it('splits texts around references', () => {
    assert.deepEqual(readReferences('a${B}c${D:-}'), {
      kind: 'template',
      parts: ['a', { name: 'B' }, 'c', { name: 'D', fallback: '' }],
      whole: false,
    });
  });

  it('takes $${ for the characters themselves', () => {
    assert.deepEqual(readReferences('$${B}'), { kind: 'plain', text: '${B}' });
  });

  for (const text of [
    '${',
    '${}',
    '${1A}',
    '${A B}',
    '${A:80}',
    '${A',
    '${A-b}',
    'x${A${B}}',
    '${A:-${B}}',
    '${A:-$${B}',
  ]) {
    it(`calls ${text} malformed`, () => {
      assert.equal(readReferences(text).kind, 'malformed');
    });
  }

  it('reads a megabyte of openings', () => {
    assert.equal(readReferences('${'.repeat(500_000)).kind, 'malformed');
    assert.notEqual(readReferences('${A}'.repeat(250_000)).kind, 'malformed');
  });
});

describe('lookUp', () => {
  it('takes the default for what is unset or empty', () => {
    assert.equal(lookUp({ name: 'A', fallback: 'x' }, {}), 'x');
    assert.equal(lookUp({ name: 'A', fallback: 'x' }, { A: '' }), 'x');
    assert.equal(lookUp({ name: 'A', fallback: 'x' }, { A: 'y' }), 'y');
  });

  it('does not find what every object has', () => {
    assert.equal(lookUp({ name: 'constructor' }, {}), undefined);
    assert.equal(lookUp({ name: '__proto__' }, {}), undefined);
  });
});

describe('readAs', () => {
  it('reads numbers and booleans strictly', () => {
    assert.deepEqual(
      [
        readAs('integer', '80'),
        readAs('integer', '1e3'),
        readAs('integer', '0x10'),
        readAs('integer', ' 1'),
        readAs('number', '1.5'),
      ],
      [80, undefined, undefined, undefined, 1.5],
    );
    assert.deepEqual(
      [readAs('boolean', 'true'), readAs('boolean', 'yes'), readAs('string', '80')],
      [true, undefined, '80'],
    );
    assert.deepEqual([readAs(['integer', 'string'], '5'), readAs(['integer', 'string'], '5m')], [5, '5m']);
  });
});
