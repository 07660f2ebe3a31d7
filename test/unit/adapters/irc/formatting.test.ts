// Marks as the codes of IRC, both ways. The codes are those of https://modern.ircdocs.horse/formatting.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readCodes, renderCodes, textOf } from '../../../../worker/adapters/irc/formatting.ts';
import { compose } from '../../../../worker/outbox/compose.ts';
import { type Mark, md, mention, type Segment } from '../../../../worker/sdk/index.ts';

const [BOLD, ITALIC, STRIKE, MONO] = ['\u0002', '\u001d', '\u001e', '\u0011'];
const read = (line: string) => textOf(readCodes(line));

describe('marks as codes of IRC', () => {
  it('are bold, italic, strikethrough and monospace; links are spelled out, blocks stand on lines of their own (IRC-FORMATTING-1)', () => {
    const rich = md`**bold** _it_ ~~no~~ \`x\` **_both_** [here](https://example.org/a)\n> said\n\`\`\`\nlet x;\n  y();\n\`\`\`${mention({ endpoint: 'e', id: 'ann' })}`;

    assert.equal(
      renderCodes(rich),
      [
        `${BOLD}bold${BOLD} ${ITALIC}it${ITALIC} ${STRIKE}no${STRIKE} ${MONO}x${MONO} ${BOLD}${ITALIC}both${ITALIC}${BOLD} here (https://example.org/a)`,
        '> said',
        `${MONO}let x;${MONO}`,
        `${MONO}  y();${MONO}`,
        '@ann',
      ].join('\n'),
    );
  });

  it('begin and end in each line, for clients end them with it, and are around no blank one', () => {
    assert.equal(
      renderCodes({ segments: [{ kind: 'text', text: 'a\r\n \n\nb', marks: ['bold'] }] }),
      `${BOLD}a${BOLD}\n \n\n${BOLD}b${BOLD}`,
    );
  });

  it('are never in what was written as text (IRC-FORMATTING-1)', () => {
    const written = `${BOLD}a\u000304b\u000f\u0001VERSION\u0001`;
    const segments: readonly Segment[] = [
      { kind: 'text', text: written },
      { kind: 'link', text: written, url: `https://a.b/${BOLD}` },
      { kind: 'quote', text: written },
    ];

    assert.doesNotMatch(renderCodes({ segments }), /[^\P{Cc}\n]/u);
  });

  it('are closed and opened again where a text comes in parts, and count as bytes of it', () => {
    const limit = 60;
    const words = Array.from({ length: 60 }, (_, i) => `wört${i}`).join(' ');
    const parts = compose(
      { segments: md`**${words}**`.segments, buttons: [], files: [] },
      { text: { limit, unit: 'bytes', render: renderCodes } },
      { private: false },
    );

    const texts = parts.map((part) => ('text' in part ? part.text : ''));
    assert.ok(texts.length > 5);
    for (const text of texts) {
      assert.ok(Buffer.byteLength(text) <= limit, text);
      assert.match(text, /^\u0002[^\u0002]+\u0002$/);
    }
  });

  it('are read back: bold, italic, strikethrough and monospace, to their end, a reset or the end of the line (IRC-FORMATTING-2)', () => {
    assert.deepEqual(read(`a ${BOLD}b${ITALIC}c${BOLD}d\u000fe ${STRIKE}f${STRIKE}${MONO}g`), [
      { kind: 'text', text: 'a ' },
      { kind: 'text', text: 'b', marks: ['bold'] },
      { kind: 'text', text: 'c', marks: ['bold', 'italic'] },
      { kind: 'text', text: 'd', marks: ['italic'] },
      { kind: 'text', text: 'e ' },
      { kind: 'text', text: 'f', marks: ['strike'] },
      { kind: 'text', text: 'g', marks: ['code'] },
    ]);
  });

  it('leave out colours, underlines and what is reversed, and keep what stands behind them (IRC-FORMATTING-2)', () => {
    assert.equal(
      read('\u000304,01red\u0003 \u001fline\u001f \u0016back\u0016\u000f \u0004ff0000x\u0004 5\t6\u0007'),
      'red line back x 5 6',
    );
  });

  it('come back as they went out, whatever the text', () => {
    const marks = fc.subarray<Mark>(['bold', 'italic', 'strike', 'code']);
    const segment = fc.record({ kind: fc.constant('text' as const), text: fc.string({ unit: 'binary' }), marks });
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), (segments) => {
        const letters = (line: readonly Segment[]): readonly (readonly [string, string])[] =>
          line.flatMap((one) =>
            one.kind === 'text' ? Array.from(one.text, (letter) => [letter, String(one.marks ?? [])] as const) : [],
          );
        const plain = (text: string): string => text.replace(/[\p{Cc}\s]/gu, '');
        const shown = renderCodes({ segments })
          .split('\n')
          .flatMap((line) => readCodes(line));

        assert.equal(
          JSON.stringify(letters(shown).filter(([letter]) => plain(letter) !== '')),
          JSON.stringify(letters(segments.map((one) => ({ ...one, text: plain(one.text) })))),
        );
      }),
    );
  });
});
