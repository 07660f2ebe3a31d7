// Rendering: literal text is shown as written, in every format.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { md, mention, type Segment } from '../../../worker/sdk/index.ts';
import { render } from '../../../worker/sdk/text/render.ts';

const EVIL = '*x* [a](b) @everyone <b>';
const literal = (text: string): readonly Segment[] => [{ kind: 'text', text }];

describe('render', () => {
  it('escapes what a format would read as markup (TEXT-RENDER-1)', () => {
    const { segments } = md`**${EVIL}** _i_ \`c\``;

    assert.equal(render(segments, 'plain'), `${EVIL} i c`);
    assert.equal(render(segments, 'markdown'), '**\\*x\\* \\[a\\](b) @everyone \\<b\\>** _i_ `c`');
    assert.equal(render(segments, 'html'), '<b>*x* [a](b) @everyone &lt;b&gt;</b> <i>i</i> <code>c</code>');
  });

  it('escapes what markdown reads at the start of a line, and entities (TEXT-RENDER-1)', () => {
    assert.equal(render(literal('# no\n- no\n+ no\n1. no\n==='), 'markdown'), '\\# no\n\\- no\n\\+ no\n1\\. no\n\\===');
    assert.equal(render(literal('a-b #1 2.5 &amp; a&b'), 'markdown'), 'a-b #1 2.5 \\&amp; a&b');
    assert.equal(render(literal('C:\\*'), 'markdown'), 'C:\\\\\\*');
  });

  it('leaves no tag, comment or address in angle brackets to markdown that is read as HTML, and other signs alone (TEXT-RENDER-1)', () => {
    assert.equal(render(literal('<img src=x onerror=y>'), 'markdown'), '\\<img src=x onerror=y\\>');
    assert.equal(render(literal('</b> <!-- <?x <https://e.org'), 'markdown'), '\\</b\\> \\<!-- \\<?x \\<https://e.org');
    assert.equal(render(literal('1 < 2, a <- b, <3'), 'markdown'), '1 < 2, a <- b, <3');
  });

  it('gives neighbours with the same marks one run, without blanks at its edges (TEXT-RENDER-2)', () => {
    assert.equal(render(md`**Hello ${'Ann'}** !`.segments, 'markdown'), '**Hello Ann** !');
    assert.equal(render(md`**${'wide '}**load`.segments, 'markdown'), '**wide** load');
    assert.equal(render(md`**${'  '}**`.segments, 'markdown'), '  ');
  });

  it('shows inline code as it is, whatever ticks are in it', () => {
    assert.equal(render(md`\`${'a*b'}\``.segments, 'markdown'), '`a*b`');
    assert.equal(render(md`\`${'a`b`'}\``.segments, 'markdown'), '`` a`b` ``');
    assert.equal(render(md`\`\`\`ts\n${'```'}\n\`\`\``.segments, 'markdown'), '````ts\n```\n````');
  });

  it('keeps the text of a link and the address apart, and takes no address that could run (TEXT-RENDER-3)', () => {
    assert.equal(
      render(md`[${'x](y) *z*'}](${'https://e.org/a b(c)'})`.segments, 'markdown'),
      '[x\\](y) \\*z\\*](https://e.org/a%20b%28c%29)',
    );
    assert.equal(
      render(md`[a](${'https://e.org/?q="><b>'})`.segments, 'html'),
      '<a href="https://e.org/?q=&quot;&gt;&lt;b&gt;">a</a>',
    );
    assert.equal(render(md`[a](${'javascript:alert(1)'})`.segments, 'html'), 'a (javascript:alert(1))');
    assert.equal(render(md`[a](https://e.org)`.segments, 'plain'), 'a (https://e.org)');
  });

  it('puts blocks on lines of their own', () => {
    const { segments } = md`before
> ${'quoted'}
after
\`\`\`ts
code
\`\`\`
end`;

    assert.equal(render(segments, 'plain'), 'before\n> quoted\nafter\ncode\nend');
    assert.equal(render(segments, 'markdown'), 'before\n> quoted\n\nafter\n```ts\ncode\n```\nend');
    assert.equal(
      render(segments, 'html'),
      'before\n<blockquote>quoted</blockquote>\nafter\n<pre><code class="language-ts">code</code></pre>\nend',
    );
  });

  it('mentions by id, and hands everything to a format of the adapter', () => {
    const { segments } = md`hi ${mention({ endpoint: 'e', id: 'a_b' })}`;

    assert.equal(render(segments, 'markdown'), 'hi @a\\_b');
    assert.equal(
      render(segments, (rich) => rich.segments.map(({ kind }) => kind).join()),
      'text,mention',
    );
  });
});
