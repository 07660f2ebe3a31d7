// Renders segments as GitHub's Markdown. Pure.
//
//   GITHUB-RENDER-1  Literal text is shown as written: no markup, no HTML, no mention. GitHub notifies people by mail even for an escaped @, so an
//                    empty comment separates the @ from the name. A URL stays unchanged: GitHub links it, reads no markup in it, and would take a
//                    backslash for a part of it.
//   GITHUB-RENDER-2  Only `mention` mentions. GitHub has no mention of all. Two dollar signs would enclose mathematics, so each stands in a span, as
//                    GitHub documents. Four leading spaces would begin code, so they become spaces that Markdown does not count.
//   GITHUB-RENDER-3  A link with a scheme that could run code becomes text.
import type { Mark, Rich, Segment } from '../../sdk/index.ts';
import { edgesOf } from '../../sdk/text/text-edges.ts';

const SAFE_URL = /^(?:https?|mailto):/i;
const SIGNS: readonly (readonly [Mark, string])[] = [
  ['bold', '**'],
  ['italic', '_'],
  ['strike', '~~'],
];

export function render({ segments }: Rich): string {
  let out = '';
  let isOpen = false; // after a block, text needs a new line
  let isNamed = false;
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = shown(segment);
    if (text === '') continue;
    if (isNamed && segment.kind === 'text' && /^[\w-]/.test(segment.text)) out += '<!-- -->'; // keeps the text from extending the name
    if (isOpen) out += '\n\n';
    else if (isBlock && out !== '') out += out.endsWith('\n') ? '\n' : '\n\n';
    out += isOpen ? text.replace(/^\n+/, '') : text;
    isOpen = isBlock;
    isNamed = segment.kind === 'mention';
  }
  return out;
}

function shown(segment: Segment): string {
  switch (segment.kind) {
    case 'text':
      return marked(segment.text, segment.marks ?? []);
    case 'link':
      return link(segment.text, segment.url);
    case 'mention':
      return segment.user === 'everyone' ? 'everyone' : mentionOf(segment.user.id);
    case 'code':
      return fenced(segment.text.replace(/\n$/, ''), segment.language ?? '');
    case 'quote':
      return literal(segment.text).replace(/^/gm, '> ');
  }
}

const mentionOf = (login: string): string =>
  /^[\w-]+(\[bot\])?$/.test(login) ? `@${login.replace('[bot]', '')}` : escape(`@${login}`);

/** Marks never enclose spaces at their edges, where Markdown would ignore the marks. */
function marked(text: string, marks: readonly Mark[]): string {
  const { before, inner, after } = edgesOf(text);
  if (marks.length === 0 || inner === '') return literal(text);
  const core = marks.includes('code') ? inlineCode(inner) : literal(inner);
  const signs = SIGNS.filter(([mark]) => marks.includes(mark)).map(([, sign]) => sign);
  return `${before.replace(/(?<![ \t])[ \t]+$/, (blanks) => (blanks.length < 4 && !blanks.includes('\t') ? blanks : ' '))}${signs.join('')}${core}${signs.toReversed().join('')}${after}`;
}

function link(text: string, url: string): string {
  const label = text === '' ? url : text;
  if (!SAFE_URL.test(url)) return literal(text === '' || text === url ? url : `${text} (${url})`);
  const target = url.replace(
    /[\s()<>\\]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return `[${escape(label)}](${target})`;
}

/** Matches URLs as GitHub does, without trailing punctuation. */
const ADDRESS =
  /((?<![A-Za-z])https?:\/\/[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*(?::\d+)?(?:[/?#](?:[^\s<>|`]*[^\s<>|`?!.,:;*_~'")\]])?)?)/;

function literal(text: string): string {
  const pieces = text.split(ADDRESS);
  const literals = pieces.filter((_, i) => i % 2 === 0);
  const isMath = literals.join('').split('$').length > 2;
  return pieces
    .map((piece, i) =>
      i % 2 === 1 ? piece : isMath ? escape(piece).replaceAll('$', '<span>$$</span>') : escape(piece),
    )
    .join('')
    .replace(INDENT, (blanks) => '&nbsp;'.repeat(blanks.replaceAll('\t', '    ').length));
}

const INDENT = /^(?: {4}| {0,3}\t)[ \t]*(?=\S)/gm;

/** Spaces before a sign are matched within one line only. A run of empty lines would otherwise take quadratic time. */
function escape(text: string): string {
  return text
    .replace(/[\\*_~`[\]<>|]/g, '\\$&')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replace(/^([^\S\r\n\u2028\u2029]*)([#+-])(?=[#\s-]|$)/gm, '$1\\$2')
    .replace(/^([^\S\r\n\u2028\u2029]*)=(?==*[^\S\r\n\u2028\u2029]*$)/gm, '$1\\=')
    .replace(/^([^\S\r\n\u2028\u2029]*\d{1,9})([.)])(?=\s|$)/gm, '$1\\$2')
    .replace(/(?<!\w)@(?=[A-Za-z0-9])/g, '@<!-- -->');
}

function inlineCode(text: string): string {
  const line = text.replaceAll('\n', ' ');
  const tick = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${tick}${pad}${line}${pad}${tick}`;
}

function fenced(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language.replace(/[^\w+#.-]/g, '')}\n${text}\n${fence}`;
}

const longestRun = (text: string): number => Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
