// GitHub's Markdown: what is literal stays literal, and nobody is mentioned but on purpose.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { render } from '../../../../worker/adapters/github/render.ts';
import type { Segment } from '../../../../worker/sdk/index.ts';

const text = (literal: string): Segment => ({ kind: 'text', text: literal });
const shown = (...segments: Segment[]): string => render({ segments });

describe('render of github', () => {
  it('mentions by `mention` alone: a written @ mentions nobody', () => {
    const ann = { endpoint: 'root/github:github~main', id: 'ann' };

    assert.equal(shown({ kind: 'mention', user: ann }, text(' hi')), '@ann hi');
    assert.equal(shown({ kind: 'mention', user: ann }, text('s cat')), '@ann<!-- -->s cat');
    assert.equal(
      shown({ kind: 'mention', user: ann }, { kind: 'text', text: '-x', marks: ['bold'] }),
      '@ann<!-- -->**-x**',
    );
    assert.equal(shown(text('@octo/team and @ann')), '@<!-- -->octo/team and @<!-- -->ann');
    assert.equal(shown(text('mail ann@example.net')), 'mail ann@example.net');
    assert.equal(shown({ kind: 'mention', user: 'everyone' }), 'everyone');
    assert.equal(shown({ kind: 'mention', user: { ...ann, id: 'a b`' } }), '@<!-- -->a b\\`');
  });

  it('makes no mathematics of prices, and no code of blanks at the begin of a line', () => {
    assert.equal(shown(text('it costs $5')), 'it costs $5');
    assert.equal(
      shown(text('$5 or $6, $`x`$')),
      ['5 or ', '6, ', '\\`x\\`', ''].map((part) => `<span>$</span>${part}`).join(''),
    );
    assert.equal(shown(text('$5 at https://x.example/?a=$b')), '$5 at https://x.example/?a=$b');
    assert.equal(
      shown(text('a:\n\n    *b*\n\tc\n   d')),
      'a:\n\n&nbsp;&nbsp;&nbsp;&nbsp;\\*b\\*\n&nbsp;&nbsp;&nbsp;&nbsp;c\n   d',
    );
    assert.equal(shown({ kind: 'text', text: '     x', marks: ['bold'] }), ' **x**');
    const blanks = ' '.repeat(200_000); // minutes, where each of them is tried as the first
    assert.equal(shown({ kind: 'text', text: `${blanks}\nx`, marks: ['bold'] }), `${blanks}\n**x**`);
  });

  it('leaves addresses as they are: GitHub makes links of them, and takes a backslash for a part', () => {
    assert.equal(
      shown(text('see https://x.example/a_b/*c*?q=~d~&u=/@ann, and _x_ (https://x.example/e_f_)')),
      'see https://x.example/a_b/*c*?q=~d~&u=/@ann, and \\_x\\_ (https://x.example/e_f\\_)',
    );
    assert.equal(
      shown(text('https://_a_.example xhttps://x.example/_b_')),
      'https://\\_a\\_.example xhttps://x.example/\\_b\\_',
    );
    assert.equal(shown({ kind: 'quote', text: 'https://x.example/a_b' }), '> https://x.example/a_b');
    assert.equal(
      shown({ kind: 'link', text: 'https://x.example/a_b', url: 'https://x.example/a_b' }),
      '[https://x.example/a\\_b](https://x.example/a_b)',
    );
  });

  it('escapes markup, HTML and comments', () => {
    assert.equal(shown(text('**x** <img src=x> [a](b)')), '\\*\\*x\\*\\* \\<img src=x\\> \\[a\\](b)');
    assert.equal(shown(text('<!-- svc x -->')), '\\<!-- svc x --\\>');
    assert.equal(shown(text('# one\n- two\n1. three\n&amp;')), '\\# one\n\\- two\n1\\. three\n&amp;amp;');
  });

  it('shows marks, code, quotes and links', () => {
    assert.equal(shown({ kind: 'text', text: ' bold ', marks: ['bold', 'italic'] }), ' **_bold_** ');
    assert.equal(shown({ kind: 'text', text: 'a`b', marks: ['code'] }), '``a`b``');
    assert.equal(shown(text('see'), { kind: 'code', text: 'x = 1\n', language: 'js' }), 'see\n\n```js\nx = 1\n```');
    assert.equal(shown({ kind: 'quote', text: 'a\nb' }, text('after')), '> a\n> b\n\nafter');
    assert.equal(
      shown({ kind: 'link', text: 'here', url: 'https://x.net/a (b)' }),
      '[here](https://x.net/a%20%28b%29)',
    );
    assert.equal(shown({ kind: 'link', text: 'here', url: 'javascript:x' }), 'here (javascript:x)');
  });
});
