// Renders segments for a platform: plain, markdown (CommonMark), html, or the adapter's own function.
//
//   TEXT-RENDER-1  Text of a person or a plugin is shown as written: every character that the format reads as markup is escaped.
//   TEXT-RENDER-2  Adjacent segments with the same marks become one run. Marks never enclose blanks at their edges, because platforms do not parse
//                  such marks.
//   TEXT-RENDER-3  A link whose scheme could run code is rendered as text.

import type { Can } from '../adapter.ts';
import { type Mark, plainText, type Rich, type Segment } from '../message.ts';
import { edgesOf } from './text-edges.ts';

export type Render = Can['text']['render'];

/** Renders the segments in the given format. */
export function render(segments: readonly Segment[], how: Render): string {
  const merged = mergeRuns(segments);
  if (typeof how === 'function') return how({ segments: merged } satisfies Rich);
  if (how === 'plain') return renderWith(merged, PLAIN);
  return renderWith(merged, how === 'markdown' ? MARKDOWN : HTML);
}

interface Format {
  escape(text: string): string;
  /** A run of text with marks, in the order of `MARKS`. */
  marked(text: string, marks: readonly Mark[]): string;
  link(text: string, url: string): string;
  code(text: string, language: string): string;
  quote(text: string): string;
  /** Line breaks after a quote: a block needs a line of its own. */
  readonly afterQuote: string;
}

const MARKS: readonly Mark[] = ['bold', 'italic', 'strike', 'code'];
const SAFE_URL = /^(?:https?|mailto|tel|geo|xmpp|ircs?|matrix|tg):/i;

function renderWith(segments: readonly Segment[], format: Format): string {
  let out = '';
  let owed = '';
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = renderSegment(segment, format);
    const breaks = isBlock && out !== '' && !out.endsWith('\n') && owed === '' ? '\n' : owed.slice(leadingBreaks(text));
    out += breaks + text;
    owed = isBlock ? (segment.kind === 'quote' ? format.afterQuote : '\n') : '';
  }
  return out;
}

const leadingBreaks = (text: string): number => /^\n*/.exec(text)?.[0].length ?? 0;

function renderSegment(segment: Segment, format: Format): string {
  switch (segment.kind) {
    case 'text':
      return withMarks(
        segment.text,
        MARKS.filter((mark) => segment.marks?.includes(mark)),
        format,
      );
    case 'link':
      if (!SAFE_URL.test(segment.url)) return format.escape(plainText([segment]));
      return format.link(segment.text === '' ? segment.url : segment.text, segment.url);
    case 'mention':
      return format.escape(plainText([segment]));
    case 'code':
      return format.code(segment.text.replace(/\n$/, ''), segment.language ?? '');
    case 'quote':
      return format.quote(segment.text);
  }
}

function withMarks(text: string, marks: readonly Mark[], format: Format): string {
  const { before, inner, after } = edgesOf(text);
  if (marks.length === 0 || inner === '') return format.escape(text);
  return `${before}${format.marked(inner, marks)}${after}`;
}

/** Merges adjacent segments with the same marks and drops empty ones. */
function mergeRuns(segments: readonly Segment[]): readonly Segment[] {
  const merged: Segment[] = [];
  for (const segment of segments) {
    const last = merged.at(-1);
    if (segment.kind === 'text' && segment.text === '') continue;
    if (segment.kind === 'text' && last?.kind === 'text' && sameMarks(last.marks, segment.marks))
      merged[merged.length - 1] = { ...last, text: last.text + segment.text };
    else merged.push(segment);
  }
  return merged;
}

const sameMarks = (a: readonly Mark[] = [], b: readonly Mark[] = []): boolean =>
  MARKS.every((mark) => a.includes(mark) === b.includes(mark));
const prefixLines = (text: string, prefix: string): string => text.replace(/^/gm, prefix);

const PLAIN: Format = {
  escape: (text) => text,
  marked: (text) => text,
  link: (text, url) => plainText([{ kind: 'link', text, url }]),
  code: (text) => text,
  quote: (text) => prefixLines(text, '> '),
  afterQuote: '\n',
};

const SIGNS = { bold: '**', italic: '_', strike: '~~' } as const;
const MARKDOWN: Format = {
  escape: escapeMarkdown,
  marked(text, marks) {
    const inner = marks.includes('code') ? inlineCode(text) : escapeMarkdown(text);
    return marks.reduceRight((out, mark) => (mark === 'code' ? out : `${SIGNS[mark]}${out}${SIGNS[mark]}`), inner);
  },
  link: (text, url) => `[${escapeMarkdown(text)}](${url.replace(/[\s()<>\\]/g, percent)})`,
  code(text, language) {
    const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
    return `${fence}${language.replace(/[^\w+#.-]/g, '')}\n${text}\n${fence}`;
  },
  quote: (text) => prefixLines(escapeMarkdown(text), '> '),
  // CommonMark adds a line right after a quote to that quote (lazy continuation), so an empty line ends it.
  afterQuote: '\n\n',
};

/**
 * "1) " at the start of a line is not escaped: as a list item it reads the same. `<` is escaped only before a tag or an address. The patterns match
 * blanks of one line: `\s` would match empty lines too, and scan a run of them again from each line.
 */
function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\*_~`[\]>]|<(?=[A-Za-z/!?])/g, '\\$&')
    .replace(/&(?=#?\w+;)/g, '\\&')
    .replace(/^([^\S\r\n\u2028\u2029]*)([#+-])(?=[#\s-]|$)/gm, '$1\\$2')
    .replace(/^([^\S\r\n\u2028\u2029]*)=(?==*[^\S\r\n\u2028\u2029]*$)/gm, '$1\\=')
    .replace(/^([^\S\r\n\u2028\u2029]*\d{1,9})\.(?=\s|$)/gm, '$1\\.');
}

function inlineCode(text: string): string {
  const line = text.replace(/\n/g, ' ');
  const tick = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${tick}${pad}${line}${pad}${tick}`;
}

const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
const percent = (character: string): string =>
  encodeURIComponent(character).replace(/[()]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

const TAGS = { bold: 'b', italic: 'i', strike: 's', code: 'code' } as const;
const HTML: Format = {
  escape: escapeHtml,
  marked: (text, marks) => marks.reduceRight((out, mark) => `<${TAGS[mark]}>${out}</${TAGS[mark]}>`, escapeHtml(text)),
  link: (text, url) => `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`,
  code(text, language) {
    const name = language.replace(/[^\w+#.-]/g, '');
    return name === ''
      ? `<pre>${escapeHtml(text)}</pre>`
      : `<pre><code class="language-${name}">${escapeHtml(text)}</code></pre>`;
  },
  quote: (text) => `<blockquote>${escapeHtml(text)}</blockquote>`,
  afterQuote: '\n',
};

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
