import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fullBucket, takeLine } from '../../../../worker/adapters/irc/connection/flood.ts';
import { nickForTry } from '../../../../worker/adapters/irc/connection/nick.ts';
import { readCodes } from '../../../../worker/adapters/irc/formatting.ts';
import { isTarget, messageLines } from '../../../../worker/adapters/irc/lines.ts';

/** Any text, and one in which codes are many. */
const textWithCodes = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 2_000 }),
  fc.string({ unit: fc.constantFrom('\u0002', '\u0011', '\u001d', '\u001e', 'word ', 'ö', '😀'), maxLength: 600 }),
);
const envelope = { nick: 'bot', target: '#room' };

describe('messageLines', () => {
  it('makes a line of each line, and none of blank ones', () => {
    assert.deepEqual(messageLines('one\ntwo\r\n\r\n  \nthree\rfour', envelope), ['one', 'two', 'three', 'four']);
  });

  it('lets nothing be injected and no line grow over 512 bytes, whatever the text (IRC-LINES-1, IRC-LINES-2)', () => {
    fc.assert(
      fc.property(textWithCodes, (text) => {
        for (const line of messageLines(text, envelope)) {
          assert.doesNotMatch(line, /[^\P{Cc}\u0002\u0011\u001d\u001e]/u);
          assert.ok(Buffer.byteLength(`:bot!12345678901@${'h'.repeat(63)} PRIVMSG #room :${line}\r\n`) <= 512);
          assert.ok(line.replace(/\p{Cc}/gu, '').trim() !== '');
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

describe('messageLines with codes of marks', () => {
  it('ends in each piece what it began, and begins it again in the next: every letter has its marks', () => {
    const words = Array.from({ length: 120 }, (_, i) => `wört${i}`).join(' ');
    const lines = messageLines(`\u0002\u001d${words}\u001d ${words}\u0002 ${words}`, envelope);

    const runs = lines.flatMap((line) => readCodes(line));
    const marked = (marks: readonly string[]): string =>
      runs
        .filter((run) => String(run.marks ?? []) === String(marks))
        .map(({ text }) => text.trim())
        .join(' ');
    assert.ok(lines.length > 3);
    assert.deepEqual([marked(['bold', 'italic']), marked(['bold']), marked([])], [words, words, words]);
  });

  it('has room for the codes in every piece (IRC-LINES-2)', () => {
    const lines = messageLines(`\u0002\u001d\u001e\u0011${'x'.repeat(2_000)}`, envelope);

    for (const line of lines)
      assert.ok(Buffer.byteLength(`:bot!12345678901@${'h'.repeat(63)} PRIVMSG #room :${line}\r\n`) <= 512);
    assert.equal(lines.join('').replace(/\p{Cc}/gu, ''), 'x'.repeat(2_000));
  });

  it('makes no line of codes alone', () => {
    assert.deepEqual(messageLines('\u0002\u0002\n\u0002 \u0002\nx', envelope), ['x']);
  });
});

describe('isTarget', () => {
  it('takes nicks and channels, and nothing that is read as two words or as a parameter (IRC-LINES-3)', () => {
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
