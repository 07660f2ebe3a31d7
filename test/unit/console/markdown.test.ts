import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Block, type Inline, parseInline, parseMarkdown, safeUrl } from '../../../worker/console/src/markdown.ts';

const text = (value: string): Inline => ({ kind: 'text', text: value });

describe('parseMarkdown', () => {
  it('reads what bots write (CONSOLE-MARKDOWN-1)', () => {
    assert.deepEqual(parseInline('a **b _c_** ~~d~~ `e*f` [g](https://example.org/x?y=1)'), [
      text('a '),
      { kind: 'mark', mark: 'strong', children: [text('b '), { kind: 'mark', mark: 'em', children: [text('c')] }] },
      text(' '),
      { kind: 'mark', mark: 's', children: [text('d')] },
      text(' '),
      { kind: 'code', text: 'e*f' },
      text(' '),
      { kind: 'link', url: 'https://example.org/x?y=1', children: [text('g')] },
    ]);
  });

  it('takes an escaped sign as it is', () => {
    assert.deepEqual(parseInline('\\*\\*not bold\\*\\* \\[x\\](y) snake_case_name **a\\\\**'), [
      text('**not bold** [x](y) snake_case_name '),
      { kind: 'mark', mark: 'strong', children: [text('a\\')] },
    ]);
  });

  it('reads fences and quotes, longer fences and ticks in code', () => {
    assert.deepEqual(parseMarkdown('before\n````js\nlet a = `1`;\n```\n````\n> one\n> two\n\nafter'), [
      { kind: 'text', children: [text('before')] },
      { kind: 'code', language: 'js', text: 'let a = `1`;\n```' },
      { kind: 'quote', children: [text('one\ntwo')] },
      { kind: 'text', children: [text('\nafter')] },
    ]);
    assert.deepEqual(parseInline('`` ` ``'), [{ kind: 'code', text: '`' }]);
  });

  it('shows a fence that holds nothing as text', () => {
    for (const empty of ['```a', '```a\n', '```'])
      assert.deepEqual(parseMarkdown(empty), [{ kind: 'text', children: [text(empty)] }]);
    assert.deepEqual(parseMarkdown('```a\n```'), [{ kind: 'text', children: [{ kind: 'code', text: 'a\n' }] }]);
    assert.deepEqual(parseMarkdown('```a```\nb'), [
      { kind: 'text', children: [{ kind: 'code', text: 'a' }, text('\nb')] },
    ]);
  });

  it('leads to no address but http, https and mailto (CONSOLE-MARKDOWN-2)', () => {
    const hostile = [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      '//evil',
      '/x',
      'blob:x',
      'java\tscript:x',
    ];

    assert.deepEqual(
      hostile.map(safeUrl),
      hostile.map(() => undefined),
    );
    assert.deepEqual(kinds(parseMarkdown(hostile.map((url) => `[click](${url})`).join(' '))), ['text']);
    assert.deepEqual(['https://a.example/', 'http://a.example/', 'mailto:a@b.example'].map(safeUrl), [
      'https://a.example/',
      'http://a.example/',
      'mailto:a@b.example',
    ]);
  });

  it('keeps HTML as text', () => {
    assert.deepEqual(parseMarkdown('<img src=x onerror=alert(1)>'), [
      { kind: 'text', children: [text('<img src=x onerror=alert(1)>')] },
    ]);
  });

  it('loses nothing but signs, whatever the text (CONSOLE-MARKDOWN-4)', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '*', '_', '~', '`', '```', '[', ']', '(', ')', '\\', '\n', '>', ' ') }),
        (source) => letters(parseMarkdown(source)) === letters(source),
      ),
      { examples: [['```\na\n```'], ['````\n```\na'], ['```a'], ['```a\n```'], ['a\n```a`\na'], ['>a\n```a\n>a']] },
    );
  });
});

const kinds = (blocks: readonly Block[]): readonly string[] => [
  ...new Set(blocks.flatMap((block) => ('children' in block ? block.children.map(({ kind }) => kind) : [block.kind]))),
];
function letters(value: string | readonly (Block | Inline)[]): string {
  const flat = (nodes: readonly (Block | Inline)[]): string =>
    nodes
      .map((node) =>
        'children' in node ? flat(node.children) : `${'language' in node ? node.language : ''}${node.text}`,
      )
      .join('');
  return (typeof value === 'string' ? value : flat(value)).replace(/[^a]/g, '');
}
