// What a text of a stranger costs where it is read or rendered: eight times the text may take about eight times as long, and not 64 times. A bot that
// repeats a text (echo, a quote) would otherwise stand still for everybody, and be ended as one that hangs.

import { readReferences } from '../../shared/config/references.ts';
import { toMarkdown } from '../../worker/adapters/discord/text.ts';
import { render as renderGitHub } from '../../worker/adapters/github/render.ts';
import { renderCodes } from '../../worker/adapters/irc/formatting.ts';
import { messageLines } from '../../worker/adapters/irc/lines.ts';
import { render as renderLine } from '../../worker/adapters/line/text.ts';
import { toCq } from '../../worker/adapters/onebot11/message/text.ts';
import { toMrkdwn } from '../../worker/adapters/slack/text.ts';
import { renderHtml } from '../../worker/adapters/telegram/render.ts';
import { renderStyled } from '../../worker/adapters/xmpp/text.ts';
import { parseMarkdown } from '../../worker/console/src/markdown.ts';
import { md, type Segment } from '../../worker/sdk/index.ts';
import { render } from '../../worker/sdk/text/render.ts';
import type { Report } from './load/report.ts';

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

/** A text is one of these over and over, alone and between letters. */
const PIECES = [
  [' ', '\t', '\n', '\r\n', '\u2028', '\n ', '> ', '\n> ', '=', '`', '``a', '```\n', '```a\n', '*', '**', '**a', '*a'],
  ['_', ' _', '_a', '_a ', '~', '~~', '~~a~', '[', '[[', '![', ']', '](', '(', '[a](', '[a](b ', '<', '<@', '>', '|'],
  ['||', '\\', '\\\\', '$`', '${', '${A}', '&amp;', '@a ', 'https://a.b/', '1.'],
].flat();
const LENGTH = 7_500;
const TIMES = 8;
const ROUNDS = 5;
/** Less than this cannot be told from none. */
const LEAST_MS = 2;
/** Between what is linear and what is a square. */
const GOAL = 3 * TIMES;

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  ...Object.fromEntries(
    Object.entries(RENDERERS).map(([name, renders]) => [
      `rendered for ${name}`,
      (text: string) => {
        renders([{ kind: 'text', text }]);
        renders([{ kind: 'text', text, marks: ['bold'] }]);
        renders([{ kind: 'text', text, marks: ['code'] }]);
        renders([{ kind: 'quote', text }]);
        renders([{ kind: 'code', text }]);
        renders([{ kind: 'link', text, url: `https://a.b/${text}` }]);
      },
    ]),
  ),
  'read as Markdown by the console': parseMarkdown,
  'read as a template of a plugin (md)': (text) => md([text] as never),
  'read as a value of the configuration': readReferences,
};

/** Of each reader the text whose cost grows most. */
export function benchTexts(report: Report): void {
  for (const [name, reads] of Object.entries(READERS)) {
    const all = PIECES.flatMap((piece) => [growth(reads, piece, ''), growth(reads, piece, 'a')]);
    const worst = all.reduce((most, one) => (one.ratio > most.ratio ? one : most));
    report.add({
      name: `${TIMES} times the text ${name}`,
      value: worst.longMs,
      unit: 'ms',
      baseline: { name: `a text of ${JSON.stringify(worst.piece)}`, value: worst.shortMs },
      ratio: worst.ratio,
      goal: { text: `<= ${GOAL}`, met: worst.ratio <= GOAL },
    });
  }
}

function growth(reads: (text: string) => unknown, piece: string, edge: string) {
  const of = (length: number): string => `${edge}${piece.repeat(length / piece.length)}${edge}`;
  const [shortMs, longMs] = [LENGTH, LENGTH * TIMES].map((length) => leastMs(reads, of(length))) as [number, number];
  return { piece, shortMs, longMs, ratio: longMs / Math.max(shortMs, LEAST_MS) };
}

/** Of the processor. */
function leastMs(reads: (text: string) => unknown, text: string): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    reads(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
