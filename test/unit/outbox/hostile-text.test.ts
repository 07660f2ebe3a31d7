// Text of strangers on its way out: whatever it is, rendering it takes time that grows with its length alone. A bot that repeats a text
// (echo, a quote) would otherwise stand still for everybody, and be ended as one that hangs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toMarkdown } from '../../../worker/adapters/discord/text.ts';
import { render as renderGitHub } from '../../../worker/adapters/github/render.ts';
import { renderCodes } from '../../../worker/adapters/irc/formatting.ts';
import { messageLines } from '../../../worker/adapters/irc/lines.ts';
import { render as renderLine } from '../../../worker/adapters/line/text.ts';
import { toCq } from '../../../worker/adapters/onebot11/message/text.ts';
import { toMrkdwn } from '../../../worker/adapters/slack/text.ts';
import { renderHtml } from '../../../worker/adapters/telegram/render.ts';
import { renderStyled } from '../../../worker/adapters/xmpp/text.ts';
import type { Segment } from '../../../worker/sdk/index.ts';
import { render } from '../../../worker/sdk/text/render.ts';

type Renders = (segments: readonly Segment[]) => unknown;

const RENDERERS: Readonly<Record<string, Renders>> = {
  plain: (segments) => render(segments, 'plain'),
  markdown: (segments) => render(segments, 'markdown'),
  html: (segments) => render(segments, 'html'),
  discord: (segments) => toMarkdown({ segments }),
  github: (segments) => renderGitHub({ segments }),
  irc: (segments) => messageLines(renderCodes({ segments }), { nick: 'bot', target: '#room' }),
  line: (segments) => renderLine({ segments }),
  onebot11: (segments) => toCq({ segments }),
  slack: (segments) => toMrkdwn({ segments }),
  telegram: (segments) => renderHtml({ segments }),
  xmpp: (segments) => renderStyled({ segments }),
};

const LENGTH = 60_000;
const PIECES = [
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\u2028',
  '\n ',
  '> ',
  '=',
  '`',
  '*',
  '_a',
  '_',
  '**',
  '~',
  '[',
  ']',
  '(',
  '![',
  '|',
  '||',
  '\\\\',
  '$`',
  '```\n',
  '<',
  '<@',
  '[a](',
  '&amp;',
  '@a ',
  'https://a.b/',
  '1.',
]; // prettier-ignore
const TEXTS = PIECES.flatMap((piece) => {
  const run = piece.repeat(LENGTH / piece.length);
  return [run, `a${run}b`];
});
/** Linear, all of it takes a tenth of this; a square takes many times as much for a single text. */
const LIMIT_MS = 4_000;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

describe('a text of a stranger', () => {
  for (const [name, renders] of Object.entries(RENDERERS)) {
    it(`is rendered in bounded time, whatever it is (${name})`, () => {
      const startedAt = cpuMs();

      for (const text of TEXTS) {
        renders([{ kind: 'text', text }]);
        renders([{ kind: 'text', text, marks: ['bold'] }]);
        renders([{ kind: 'text', text, marks: ['code'] }]);
        renders([{ kind: 'quote', text }]);
        renders([{ kind: 'code', text }]);
        renders([{ kind: 'link', text, url: `https://a.b/${text}` }]);
        assert.ok(
          cpuMs() - startedAt < LIMIT_MS,
          `${JSON.stringify(text.slice(0, 12))} took ${cpuMs() - startedAt} ms`,
        );
      }
    });
  }
});
