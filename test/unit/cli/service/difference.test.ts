import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { difference } from '../../../../supervisor/cli/service/difference.ts';

describe('difference', () => {
  it('is empty for equal texts', () => {
    assert.deepEqual(difference('a\nb\n', 'a\nb\n'), []);
  });

  it('shows what goes, what comes, and two lines around', () => {
    const before = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].join('\n');

    assert.deepEqual(difference(before, before.replace('5', 'five')), [' 3', ' 4', '-5', '+five', ' 6', ' 7', '…']);
  });

  it('adds and takes as many lines as the texts differ by', () => {
    const line = fc.constantFrom('a', 'b', 'c');
    const text = fc.array(line, { maxLength: 4 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const shown = difference(before.join('\n'), after.join('\n'));
        const count = (sign: string): number => shown.filter((text) => text.startsWith(sign)).length;

        assert.equal(shown.length > 0, before.join('\n') !== after.join('\n'));
        assert.equal(count('+') - count('-'), after.length - before.length);
      }),
    );
  });
});
