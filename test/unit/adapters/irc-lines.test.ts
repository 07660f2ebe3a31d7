import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fullBucket, takeLine } from '../../../worker/adapters/irc/flood.ts';
import { isTarget, messageLines, withoutFormatting } from '../../../worker/adapters/irc/lines.ts';
import { nickForTry } from '../../../worker/adapters/irc/nick.ts';

const envelope = { nick: 'bot', target: '#room' };

describe('messageLines', () => {
  it('makes a line of each line, and none of blank ones', () => {
    assert.deepEqual(messageLines('one\ntwo\r\n\r\n  \nthree\rfour', envelope), ['one', 'two', 'three', 'four']);
  });

  it('lets nothing be injected and no line grow over 512 bytes, whatever the text (L1, L2)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
        for (const line of messageLines(text, envelope)) {
          assert.doesNotMatch(line, /\p{Cc}/u);
          assert.ok(Buffer.byteLength(`:bot!12345678901@${'h'.repeat(63)} PRIVMSG #room :${line}\r\n`) <= 512);
          assert.ok(line.trim() !== '');
        }
      }),
    );
  });

  it('splits at blanks, loses nothing, and never cuts a character', () => {
    const words = Array.from({ length: 200 }, (_, i) => `wört${i}`).join(' ');
    const faces = '😀'.repeat(300);

    assert.equal(messageLines(words, envelope).join(' '), words);
    assert.equal(messageLines(faces, envelope).join(''), faces);
  });
});

describe('isTarget', () => {
  it('takes nicks and channels, and nothing that is read as two words or as a parameter (L3)', () => {
    assert.deepEqual(['ann', '#room', '[x]', '#a b', ':ann', 'a,b', '', 'a\r\nQUIT', 'a\u0000'].map(isTarget), [
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('withoutFormatting', () => {
  it('drops colours and marks, and keeps what stands behind them', () => {
    assert.equal(withoutFormatting('\u000304,01red\u0003 \u0002bold\u000f \u0004ff0000x\u001d 5\t6'), 'red bold x 5 6');
  });
});

describe('takeLine', () => {
  it('lets the burst pass, then one in each interval, and fills up again', () => {
    const limit = { burst: 3, perSecond: 2 };
    let bucket = fullBucket(0, limit);
    const waits = [0, 0, 0, 0, 0, 10_000, 10_000, 10_000, 10_000].map((now) => {
      const taken = takeLine(bucket, now, limit);
      bucket = taken.bucket;
      return taken.waitMs;
    });

    assert.deepEqual(waits, [0, 0, 0, 500, 1_000, 0, 0, 0, 500]);
  });
});

describe('nickForTry', () => {
  it('takes the alternates in order, then underscores, then numbers, within the length', () => {
    const choice = { nick: 'helperbot', alternateNicks: ['helper2'] };

    assert.deepEqual(
      [1, 2, 3, 4, 5].map((tried) => nickForTry(choice, tried, 10)),
      ['helper2', 'helperbot_', 'helperbo__', 'helperb___', 'helperbot4'],
    );
  });
});
