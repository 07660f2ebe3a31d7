// `md`: markup is read in the template alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { md, mention } from 'svc';

describe('md', () => {
  it('reads marks, also inside each other', () => {
    assert.deepEqual(md`a **b _c_ ~~d~~** \`e\` snake_case_name`.segments, [
      { kind: 'text', text: 'a ' },
      { kind: 'text', text: 'b ', marks: ['bold'] },
      { kind: 'text', text: 'c', marks: ['bold', 'italic'] },
      { kind: 'text', text: ' ', marks: ['bold'] },
      { kind: 'text', text: 'd', marks: ['bold', 'strike'] },
      { kind: 'text', text: ' ' },
      { kind: 'text', text: 'e', marks: ['code'] },
      { kind: 'text', text: ' snake_case_name' },
    ]);
  });

  it('reads a link inside brackets, and no brackets around none', () => {
    assert.deepEqual(md`[a [b](https://e.org/[x]) c] [d](e [f](https://[::1]/)`.segments, [
      { kind: 'text', text: '[a ' },
      { kind: 'link', text: 'b', url: 'https://e.org/[x]' },
      { kind: 'text', text: ' c] [d](e ' },
      { kind: 'link', text: 'f', url: 'https://[::1]/' },
    ]);
  });

  it('reads links, quotes and fences', () => {
    assert.deepEqual(
      md`[a](https://e.org)
> b
\`\`\`ts
c
\`\`\``.segments,
      [
        { kind: 'link', text: 'a', url: 'https://e.org' },
        { kind: 'text', text: '\n' },
        { kind: 'quote', text: 'b' },
        { kind: 'text', text: '\n' },
        { kind: 'code', text: 'c\n', language: 'ts' },
      ],
    );
  });

  it('never reads values as markup', () => {
    assert.deepEqual(md`${'**a**'} *${'*b*'}* [${'x](y)'}](${'https://e.org/)'}) ${7}`.segments, [
      { kind: 'text', text: '**a**' },
      { kind: 'text', text: ' *' },
      { kind: 'text', text: '*b*' },
      { kind: 'text', text: '* ' },
      { kind: 'link', text: 'x](y)', url: 'https://e.org/)' },
      { kind: 'text', text: ' ' },
      { kind: 'text', text: '7' },
    ]);
  });

  it('keeps mentions, by reference alone', () => {
    const user = { endpoint: 'e', id: 'u', name: 'Ann', admin: true };

    assert.deepEqual(md`**${mention(user)}** hi ${mention('everyone')}`.segments, [
      { kind: 'mention', user: { endpoint: 'e', id: 'u' } },
      { kind: 'text', text: ' hi ' },
      { kind: 'mention', user: 'everyone' },
    ]);
  });

  it('says who is meant where only text may stand', () => {
    const ann = mention({ endpoint: 'e', id: 'ann' });

    assert.deepEqual(md`> ${ann} said\n[of ${ann}](https://e.org)`.segments, [
      { kind: 'quote', text: '@ann said' },
      { kind: 'text', text: '\n' },
      { kind: 'link', text: 'of @ann', url: 'https://e.org' },
    ]);
  });
});
