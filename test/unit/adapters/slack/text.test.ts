// Text on its way to Slack: formatting as mrkdwn, everything literal as written, blocks within their limits, emoji by name.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blocksOf, fallbackOf, sectionsOf } from '../../../../worker/adapters/slack/blocks.ts';
import { fromSlackName, toSlackName } from '../../../../worker/adapters/slack/emoji.ts';
import { toMrkdwn } from '../../../../worker/adapters/slack/text.ts';
import { md, mention, type Segment } from '../../../../worker/sdk/index.ts';

const text = (given: string): string => toMrkdwn({ segments: [{ kind: 'text', text: given }] });
const shown = (given: string): string => given.replaceAll('\u200b', '·');

describe('mrkdwn', () => {
  it('has marks, links, mentions, code and quotes as Slack writes them', () => {
    const ann = mention({ endpoint: 'e', id: 'U1' });
    assert.equal(toMrkdwn(md`**bold** _italic_ ~~gone~~ ${ann}`), '*bold* _italic_ ~gone~ <@U1>');
    assert.equal(
      toMrkdwn(md`[a <b>](https://x.example/?a=1&b=2|3)`),
      '<https://x.example/?a=1&amp;b=2%7C3|a &lt;b&gt;>',
    );
    const segments: Segment[] = [
      { kind: 'text', text: 'so' },
      { kind: 'code', text: 'if (a < b) {\n}', language: 'js' },
      { kind: 'quote', text: 'one\ntwo' },
      { kind: 'mention', user: 'everyone' },
    ];
    assert.equal(toMrkdwn({ segments }), 'so\n```\nif (a &lt; b) {\n}\n```\n> one\n> two\n<!channel>');
  });

  it('shows what is literal as written: nothing in it mentions, links or formats', () => {
    assert.equal(text('<!channel> <@U1> & <https://x|y>'), '&lt;!channel&gt; &lt;@U1&gt; &amp; &lt;https://x|y&gt;');
    assert.equal(shown(text('*not bold* _nor this_ ~nor~ `nor`')), '*·not bold* _·nor this_ ~·nor~ `·nor`');
    assert.equal(shown(text('> no quote\n1 * 2 * 3, snake_case_name')), '·&gt; no quote\n1 * 2 * 3, snake_case_name');
  });

  it('calls nobody with what is literal: in blocks and in edits Slack reads @channel, @here and @everyone by itself', () => {
    assert.equal(shown(text('@channel, (@Here) @everyone!')), '@·channel, (@·Here) @·everyone!');
    assert.equal(
      shown(text('ann@here.example @hereby https://x.example/@here')),
      'ann@·here.example @hereby https://x.example/@here',
    );
    assert.equal(shown(fallbackOf('', [{ label: '@here', token: 't1' }])), '@·here');
  });

  it('leaves addresses as they are: a character in one would lead elsewhere', () => {
    assert.equal(
      shown(text('see https://x.example/~ann/_next/*a*?b=1&c=d and *https://x.example/_b*')),
      'see https://x.example/~ann/_next/*a*?b=1&amp;c=d and *·https://x.example/_b*',
    );
  });

  it('makes no fence of what is literal', () => {
    const written = '```a``` and\n````\nb\n````';

    assert.doesNotMatch(text(written), /```/);
    assert.equal(text(written).replaceAll('\u200b', ''), written);
  });

  it('keeps the label of a link on one line', () => {
    assert.equal(
      toMrkdwn({ segments: [{ kind: 'link', text: 'one\ntwo', url: 'https://x.example' }] }),
      '<https://x.example|one two>',
    );
  });

  it('keeps marks on each line, and out of blanks', () => {
    const bold = (given: string): string => toMrkdwn({ segments: [{ kind: 'text', text: given, marks: ['bold'] }] });
    assert.equal(bold(' a \n\nb '), ' *a* \n\n*b* ');
    assert.equal(bold('  '), '  ');
  });

  it('keeps marks apart from words and signs beside them, where Slack reads none', () => {
    const beside = (before: string, after: string): string =>
      toMrkdwn({
        segments: [
          { kind: 'text', text: before },
          { kind: 'text', text: 'x', marks: ['bold'] },
          { kind: 'text', text: after },
        ],
      });
    assert.equal(beside('這是', '文字'), '這是\u200b*x*\u200b文字');
    assert.equal(beside('5', 'kg'), '5\u200b*x*\u200bkg');
    assert.equal(beside('「', '」。'), '「\u200b*x*\u200b」。');
    for (const [before, after] of [
      ['a ', ' b'],
      ['(', '), b'],
      ['a\n', '\nb'],
      ['', ''],
    ] as const)
      assert.equal(beside(before, after), `${before}*x*${after}`);
    const marks = (...all: readonly ('bold' | 'italic' | 'code')[]) =>
      ({ kind: 'text', text: 'x', marks: all }) as const;
    assert.equal(toMrkdwn({ segments: [marks('bold'), marks('code')] }), '*x*\u200b`x`');
    assert.equal(
      toMrkdwn({ segments: [{ kind: 'mention', user: { endpoint: 'e', id: 'U1' } }, marks('italic')] }),
      '<@U1>_x_',
    );
  });

  it('makes text of links that could run something', () => {
    assert.equal(
      toMrkdwn({ segments: [{ kind: 'link', text: 'x', url: 'javascript:alert(1)' }] }),
      'x (javascript:alert(1))',
    );
  });
});

describe('blocks', () => {
  it('are made for buttons alone, each with its token', () => {
    assert.equal(blocksOf('x', []), undefined);
    assert.deepEqual(blocksOf('*x*', [{ label: 'y'.repeat(80), token: 't1', style: 'danger' }]), [
      { type: 'section', text: { type: 'mrkdwn', text: '*x*' } },
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: 'svc-0',
            text: { type: 'plain_text', text: `${'y'.repeat(74)}…`, emoji: true },
            value: 't1',
            style: 'danger',
          },
        ],
      },
    ]);
  });

  it('have a fallback that mentions nobody by a label', () => {
    assert.equal(fallbackOf('', [{ label: '<!channel> & co', token: 't1' }]), '&lt;!channel&gt; &amp; co');
  });

  it('hold a long text in sections of 3,000, cut at lines, with fences closed and opened again', () => {
    const code = `\`\`\`\n${Array.from({ length: 300 }, (_, n) => `line ${n} of it`).join('\n')}\n\`\`\``;
    const words = 'word '.repeat(799).trim();
    const hard = `${'x'.repeat(2_993)}&amp;&lt;${'y'.repeat(900)}`;

    for (const given of [code, words, hard]) {
      const parts = sectionsOf(given);
      assert.ok(
        parts.length > 1 && parts.every(({ length }) => length <= 3_000),
        String(parts.map(({ length }) => length)),
      );
      for (const part of parts) assert.equal(part.split('```').length % 2, 1, 'fences are closed');
      for (const part of parts) assert.doesNotMatch(part, /&[a-z]*$|^(?:amp|lt|[a-z]{1,2});/);
    }
    assert.equal(sectionsOf(code).join('\n').replaceAll('\n```\n```\n', '\n'), code);
    assert.equal(sectionsOf(words).join(' '), words);
    assert.equal(sectionsOf(hard).join(''), hard);
  });
});

describe('emoji', () => {
  it('are characters to plugins and names to Slack, with their tones', () => {
    assert.deepEqual(
      ['+1', 'thumbsup', 'heart', 'party_parrot', 'wave::skin-tone-4', 'ありがとう'].map(fromSlackName),
      ['👍', '👍', '❤️', ':party_parrot:', '👋🏽', ':ありがとう:'],
    );
    assert.deepEqual(['👍', '❤', '👋🏽', ':party_parrot:', 'eyes', ':ありがとう:', '🫥'].map(toSlackName), [
      '+1',
      'heart',
      'wave::skin-tone-4',
      'party_parrot',
      'eyes',
      'ありがとう',
      undefined,
    ]);
  });
});
