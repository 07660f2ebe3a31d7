// Printed text as lines of the log, and the last lines that are kept: whatever the lengths are, every line comes out once, whole and in order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LineStamper } from '../../../shared/log/log-text.ts';
import { RecentLines } from '../../../shared/log/recent-lines.ts';

const STAMP = { level: 'info', source: 'stdout' } as const;

/** What a writer would have got, block by block. */
const written = (text: string, project = 'p1') =>
  Array.from(new LineStamper({ project, runtimeId: 'r1' }).blocks(text, STAMP), ({ block, lines }) => ({
    text: block.toString(),
    lines,
  }));

const messages = (blocks: ReturnType<typeof written>): readonly string[] =>
  blocks.flatMap(({ text }) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).msg as string),
  );

describe('printed text', () => {
  it('becomes lines, each once and in order, whatever it holds', () => {
    const line = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.constantFrom('', 'x', 'plain text', 'q"uote', 'back\\slash', 'ümlaut', 'tab\there', '\u2028'),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const text = `${lines.join('\n')}\n`;
        const expected = text.split('\n').filter((one) => one !== '');

        const blocks = written(text);

        assert.deepEqual(messages(blocks), expected);
        assert.equal(
          blocks.reduce((sum, block) => sum + block.lines, 0),
          expected.length,
        );
      }),
    );
  });

  it('is taken in bounded blocks, also where its lines are much shorter than what they are stamped with', () => {
    const lines = Array.from({ length: 40_000 }, (_, n) => String(n % 10));

    const blocks = written(`${lines.join('\n')}\n`);

    assert.deepEqual(messages(blocks), lines);
    assert.ok(blocks.every(({ text }) => text.length <= 192 * 1024));
  });

  it('keeps a line whole that is longer than a block, plain or not', () => {
    const lines = ['a', 'b'.repeat(200_000), 'c', 'ö'.repeat(200_000), 'd'.repeat(64 * 1024 - 1), 'e'];

    assert.deepEqual(messages(written(`${lines.join('\n')}\n`)), lines);
  });

  it('is stamped with names that are not ASCII, and with long ones', () => {
    assert.deepEqual(messages(written('one\ntwo\n', 'größe')), ['one', 'two']);
    assert.deepEqual(messages(written('one\ntwo\n', 'p'.repeat(5_000))), ['one', 'two']);
  });
});

describe('the last lines', () => {
  it('are the newest thousand, and those after a number', () => {
    const recent = new RecentLines();
    for (let n = 0; n < 2_500; n += 1) recent.add(`line ${n}\n`, 1);

    const all = recent.since(0);

    assert.deepEqual(
      [all.lines.length, all.lines[0], all.lines.at(-1), all.next],
      [1_000, 'line 1500', 'line 2499', 2_500],
    );
    assert.deepEqual(recent.since(2_498).lines, ['line 2498', 'line 2499']);
    assert.deepEqual(recent.since(2_500), { lines: [], next: 2_500 });
    assert.deepEqual(new RecentLines().since(0), { lines: [], next: 0 });
  });

  it('stay whole lines with their numbers, however much was written at once', () => {
    const block = fc.record({
      lines: fc.integer({ min: 1, max: 400 }),
      characters: fc.integer({ min: 1, max: 3_000 }),
    });
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 20 }), fc.boolean(), (blocks, asBytes) => {
        const recent = new RecentLines();
        const expected: string[] = [];
        for (const { lines, characters } of blocks) {
          const added = Array.from({ length: lines }, (_, n) => `${expected.length + n} ${'é'.repeat(characters)}`);
          expected.push(...added);
          const text = `${added.join('\n')}\n`;
          recent.add(asBytes ? Buffer.from(text) : text, lines);
        }

        const { lines, next } = recent.since(0);

        assert.equal(next, expected.length);
        assert.ok(lines.length > 0);
        assert.deepEqual(lines, expected.slice(-lines.length));
      }),
      { numRuns: 50 },
    );
  });
});
