import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearest } from '../../../shared/config/nearest.ts';

describe('nearest', () => {
  it('finds the word with the fewest edits', () => {
    assert.equal(nearest('prot', ['port', 'host', 'token']), 'port');
    assert.equal(nearest('logLevel', ['log_level', 'http']), 'log_level');
    assert.equal(nearest('demo-token', ['token', 'demoToken']), 'demoToken');
  });

  it('takes a word that begins otherwise for a mistyped one only where one edit makes it', () => {
    assert.equal(nearest('agents', ['events', 'endpoints']), undefined);
    assert.equal(nearest('eort', ['port', 'host']), 'port');
  });

  it('takes no word of another meaning for a mistyped one because two letters of six differ', () => {
    assert.equal(nearest('agents', ['alerts']), undefined);
    assert.equal(nearest('alrets', ['alerts']), 'alerts');
  });

  it('finds nothing where nothing is near', () => {
    assert.equal(nearest('zebra', ['port', 'host', 'token']), undefined);
  });

  it('does not compare long words, near as they are', () => {
    assert.equal(nearest('x'.repeat(64), ['x'.repeat(63)]), 'x'.repeat(63));
    assert.equal(nearest('x'.repeat(65), ['x'.repeat(64)]), undefined);
    assert.equal(nearest('x'.repeat(64), ['x'.repeat(65)]), undefined);
  });
});
