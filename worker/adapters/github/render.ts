// From segments to GitHub's Markdown. Pure.
//
//   R1  What a person or a plugin wrote as text is shown as written: no markup, no HTML, and no mention. GitHub mentions whoever stands
//       behind an @ even where it is escaped, and everyone of them gets mail: an empty comment stands between the @ and the name.
//       An address stays as it is: GitHub makes a link of it, takes a backslash for a part of it, and reads neither markup nor mentions in it.
//   R2  Only `mention` mentions. GitHub knows no mention of all.
//       Two dollars would enclose mathematics: as GitHub's documentation says, each stands in a span then. Four blanks at the begin of a line
//       would make it code: they are blanks that Markdown does not count.
//   R3  A link with a scheme that could run something is text.
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
  let isOpen = false; // a block ends here: what follows needs a line of its own
  let isNamed = false;
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = shown(segment);
    if (text === '') continue;
    if (isNamed && segment.kind === 'text' && /^[\w-]/.test(segment.text)) out += '<!-- -->'; // or it would be a part of the name
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

/** Marks never enclose blanks at their edges, where Markdown does not read them. */
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

/** What GitHub takes for an address, without the signs that it leaves out at the end. */
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

/** Blanks before a sign are those of its own line: a run of empty lines would be looked at anew from each. */
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
