// Discord's Markdown in both directions: nothing literal is markup or a mention.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shownText } from '../../../../worker/adapters/discord/rows.ts';
import { mentionsIn, segmentsOf, toMarkdown } from '../../../../worker/adapters/discord/text.ts';
import { md, mention, type Segment } from '../../../../worker/sdk/index.ts';

const ZW = '\u200b';
const ANN = { endpoint: 'root/discord:discord', id: '53908232506183680' };
const literal = (text: string): string => toMarkdown({ segments: [{ kind: 'text', text }] });

describe('toMarkdown', () => {
  it('renders marks, links, code and quotes', () => {
    const shown = toMarkdown(md`**bold** _it_ ~~gone~~ \`code\` [here](https://example.org/a_b)`);

    assert.equal(shown, '**bold** *it* ~~gone~~ `code` [here](https://example.org/a_b)');
    assert.equal(toMarkdown(md`see:\n\`\`\`ts\nlet a = 1;\n\`\`\``), 'see:\n```ts\nlet a = 1;\n```');
    assert.equal(
      toMarkdown({
        segments: [
          { kind: 'quote', text: 'a\nb' },
          { kind: 'text', text: 'c' },
        ],
      }),
      '> a\n> b\nc',
    );
  });

  it('escapes what is literal (DISCORD-TEXT-2)', () => {
    assert.equal(
      literal('**a** _b_ ~~c~~ `d` ||e|| [f](g) \\'),
      '\\*\\*a\\*\\* \\_b\\_ \\~\\~c\\~\\~ \\`d\\` \\|\\|e\\|\\| \\[f\\](g) \\\\',
    );
    assert.equal(
      literal('# head\n> quote\n- item\n-# small\n1. one\n+ plus\nC# -1'),
      '\\# head\n\\> quote\n\\- item\n\\-# small\n1\\. one\n\\+ plus\nC# -1',
    );
  });

  it('makes no mention of what stands in two segments (DISCORD-TEXT-3)', () => {
    for (const [first, second] of [
      ['@', 'everyone'],
      ['@he', 're'],
      ['<', '@53908232506183680> hi'],
      ['<@', '53908232506183680> hi'],
    ] as const) {
      const shown = toMarkdown(md`${first}${second}`);
      assert.deepEqual(mentionsIn(shown), { parse: [], users: [], replied_user: false }, shown);
      assert.doesNotMatch(shown, /@everyone|@here|<@\d/);
    }
    assert.equal(toMarkdown(md`hi ${mention(ANN)} and ${'you'}`), 'hi <@53908232506183680> and you');
  });

  it('mentions nobody by the labels of buttons that stand alone (DISCORD-TEXT-3)', () => {
    const buttons = ['@everyone', '<@53908232506183680>', '**b**'].map((label) => ({ label, token: label }));
    const content = shownText({ text: '', buttons });

    assert.deepEqual(mentionsIn(content), { parse: [], users: [], replied_user: false });
    assert.equal(content, `@${ZW}everyone · <${ZW}@53908232506183680> · \\*\\*b\\*\\*`);
  });

  it('leaves addresses as they are (DISCORD-TEXT-2)', () => {
    assert.equal(literal('see https://example.org/a_b_c*d and _x_'), 'see https://example.org/a_b_c\\*d and \\_x\\_');
  });

  it('makes no mention of what is literal, also in code and in an address (DISCORD-TEXT-3)', () => {
    const texts = [
      literal('<@53908232506183680> @everyone @here <#1> <@&2>'),
      toMarkdown({ segments: [{ kind: 'code', text: '<@53908232506183680> @everyone' }] }),
      toMarkdown({ segments: [{ kind: 'text', text: '@here <@1>', marks: ['code'] }] }),
      literal('https://example.org/@everyone'),
      toMarkdown({ segments: [{ kind: 'link', text: '@everyone', url: 'https://example.org/@here' }] }),
    ];

    for (const text of texts) {
      assert.deepEqual(mentionsIn(text), { parse: [], users: [], replied_user: false }, text);
      assert.doesNotMatch(text, /<[@#]|@everyone|@here/);
    }
  });

  it('allows the mentions that were meant, and those alone (DISCORD-TEXT-3)', () => {
    const shown = toMarkdown(md`hi ${mention(ANN)}, not <@1> ${mention('everyone')}`);

    assert.equal(shown, `hi <@53908232506183680>, not <${ZW}@1> @everyone`);
    assert.deepEqual(mentionsIn(shown), { parse: ['everyone'], users: ['53908232506183680'], replied_user: false });
  });

  it('keeps a fence inside of code, and a backquote inside of a span', () => {
    assert.equal(toMarkdown({ segments: [{ kind: 'code', text: 'a```b' }] }), `\`\`\`\na\`${ZW}\`\`b\n\`\`\``);
    assert.equal(toMarkdown({ segments: [{ kind: 'text', text: 'a`b', marks: ['code'] }] }), '`` a`b ``');
  });

  it('shows a link that could run something as text (DISCORD-TEXT-4)', () => {
    const of = (url: string): string => toMarkdown({ segments: [{ kind: 'link', text: 'x', url }] });

    assert.equal(of('javascript:alert(1)'), 'x (javascript:alert(1))');
    assert.equal(of('https://example.org/a(b)'), '[x](https://example.org/a%28b%29)');
  });
});

describe('segmentsOf', () => {
  it('reads people, channels, emoji and times, and keeps markup as typed (DISCORD-TEXT-1)', () => {
    const segments = segmentsOf(
      '**hi** <@53908232506183680> in <#290926798626357999> <:wave:41771983429993937> <t:1618953630:R>',
    );

    assert.deepEqual(segments, [
      { kind: 'text', text: '**hi** ' },
      { kind: 'mention', user: { endpoint: '', id: '53908232506183680' } },
      { kind: 'text', text: ' in #290926798626357999 :wave: 2021-04-20T21:20:30Z' },
    ] satisfies Segment[]);
  });

  it('takes @everyone for a mention only where Discord says so', () => {
    assert.deepEqual(segmentsOf('@everyone'), [{ kind: 'text', text: '@everyone' }]);
    assert.deepEqual(segmentsOf('@everyone', { everyone: true }), [{ kind: 'mention', user: 'everyone' }]);
  });
});
