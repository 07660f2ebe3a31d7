// Text of messages: XEP-0393 styling outward, what was meant for us inward. Pure.
//
//   T1  What a plugin wrote as text is shown as text: a character that would begin a style gets an invisible joiner before it, for XEP-0393
//       has no escapes.
//   T2  A mention is written between two invisible marks until the room is known; then it is the nick (`placeMentions`).
import type { XmlElement } from '@xmpp/client';
import type { Mark, Rich, Segment } from '../../sdk/index.ts';
import { edgesOf } from '../../sdk/text/text-edges.ts';
import { inert, NS } from './stanza.ts';

const JOINER = '\u2060';
const EDGE = '\u2063';
const SIGNS: Readonly<Record<Mark, string>> = { bold: '*', italic: '_', strike: '~', code: '`' };
const ORDER: readonly Mark[] = ['bold', 'italic', 'strike', 'code'];

export function renderStyled({ segments }: Rich): string {
  let out = '';
  let isAfterBlock = false;
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = segmentText(segment, out === '' || out.endsWith('\n') || isAfterBlock);
    if (text === '') continue;
    if ((isBlock || isAfterBlock) && out !== '' && !out.endsWith('\n') && !text.startsWith('\n')) out += '\n';
    out += text;
    isAfterBlock = isBlock;
  }
  // At the beginning it would be shown as what the bot does (XEP-0245).
  return inert(out).replace(/^\/me /, `${JOINER}$&`);
}

function segmentText(segment: Segment, isLineStart: boolean): string {
  switch (segment.kind) {
    case 'text':
      return marked(segment.text, segment.marks ?? [], isLineStart);
    case 'link':
      return segment.text === '' || segment.text === segment.url
        ? segment.url
        : `${literal(segment.text, isLineStart)} (${segment.url})`;
    case 'code':
      return `\`\`\`\n${bare(segment.text).replace(/\n$/, '').replace(/^```/gm, `${JOINER}\`\`\``)}\n\`\`\``;
    case 'quote':
      return bare(segment.text).replace(/^/gm, '> ');
    case 'mention':
      return segment.user === 'everyone' ? '@everyone' : `${EDGE}${bare(segment.user.id)}${EDGE}`;
  }
}

function marked(text: string, marks: readonly Mark[], isLineStart: boolean): string {
  const signs = ORDER.filter((mark) => marks.includes(mark)).map((mark) => SIGNS[mark]);
  const { before, inner, after } = edgesOf(text);
  if (signs.length === 0 || inner === '') return literal(text, isLineStart);
  // A span ends with its line, and at the first of its own signs: a line that holds one goes without that style.
  const lines = inner.split('\n').map((line, i) => {
    const own = signs.filter((sign) => !line.includes(sign));
    if (line.trim() === '') return line;
    return own.length === 0
      ? literal(line, isLineStart || i > 0)
      : `${own.join('')}${bare(line)}${own.toReversed().join('')}`;
  });
  return `${before}${lines.join('\n')}${after}`;
}

const bare = (text: string): string => text.replaceAll(EDGE, '');

/** T1. */
function literal(text: string, isLineStart: boolean): string {
  const guarded = bare(text).replace(
    /(^|\s)([*_~`]+)(?=\S)/g,
    (_all, before: string, signs: string) => `${before}${JOINER}${signs}`,
  );
  const quoted = guarded.replace(/\n>/g, `\n${JOINER}>`);
  return isLineStart && quoted.startsWith('>') ? `${JOINER}${quoted}` : quoted;
}

export interface Placed {
  readonly text: string;
  /** Positions in code points (XEP-0372). */
  readonly mentions: readonly { readonly begin: number; readonly end: number; readonly user: string }[];
}

/** T2. */
export function placeMentions(text: string, nickOf: (user: string) => string): Placed {
  const mentions: { begin: number; end: number; user: string }[] = [];
  let out = '';
  for (const [index, part] of text.split(EDGE).entries()) {
    if (index % 2 === 0) {
      out += part;
      continue;
    }
    const nick = nickOf(part);
    const begin = lettersOf(out).length;
    out += nick;
    mentions.push({ begin, end: begin + lettersOf(nick).length, user: part });
  }
  return { text: out, mentions };
}

/** What was written, without the quotation that a reply carries for clients that know no replies (XEP-0428). */
export function bodyOf(stanza: XmlElement): string {
  const body = inert(stanza.getChildText('body') ?? '');
  const fallback = stanza
    .getChildren('fallback', NS.fallback)
    .find(({ attrs }) => attrs['for'] === NS.reply)
    ?.getChild('body');
  if (fallback === undefined) return body;
  const letters = lettersOf(body);
  const [start, end] = [Number(fallback.attrs['start'] ?? 0), Number(fallback.attrs['end'] ?? letters.length)];
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end < start) return body;
  return [...letters.slice(0, start), ...letters.slice(end)].join('');
}

/** What somebody does, as XEP-0245 has it: "/me waves". Undefined for what is said. */
export const actionIn = (body: string): string | undefined => /^\/me (?=.*\S)(.*)$/s.exec(body)?.[1];

/** "nick: …", "nick, …", "@nick …" at the beginning is not part of the text; "@nick" elsewhere is. */
export function spokenTo(text: string, nick: string): { readonly text: string; readonly isSpokenTo: boolean } {
  const start = text.trimStart();
  const lower = start.toLowerCase();
  const name = nick.toLowerCase();
  for (const [prefix, ends] of [
    ['', /^[:,](?:\s+|$)/],
    ['@', /^(?:[:,]?(?:\s+|$))/],
  ] as const) {
    if (!lower.startsWith(prefix + name)) continue;
    const rest = start.slice(prefix.length + name.length);
    const end = ends.exec(rest);
    if (end !== null) return { text: rest.slice(end[0].length), isSpokenTo: true };
  }
  const at = lower.indexOf(`@${name}`);
  const isInside = at !== -1 && !/^[\p{L}\p{N}_-]/u.test(lower.slice(at + name.length + 1));
  return { text, isSpokenTo: isInside };
}

/** Code points, in which XMPP counts. */
const lettersOf = (text: string): readonly string[] => Array.from(text);
