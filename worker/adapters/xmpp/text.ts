// Texts of messages: outgoing in the style of XEP-0393, incoming without the bot's name. Pure.
//
//   XMPP-TEXT-1  A plugin's plain text is shown as such. XEP-0393 has no escapes, so a joiner precedes a character that would start a style.
//   XMPP-TEXT-2  Rendering writes a mention between two invisible marks. Once the room is known, it becomes the nick (`placeMentions`).
import type { XmlElement } from '@xmpp/client';
import type { Mark, Rich, Segment } from '../../sdk/index.ts';
import { edgesOf } from '../../sdk/text/text-edges.ts';
import { BEFORE_WORDS, UNSEEN } from '../../sdk/text/unseen-edges.ts';
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
  // At the beginning "/me" would be shown as an action of the bot (XEP-0245).
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
  // A span ends at a line break and at its own sign. A line with that sign is therefore sent without the style.
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

/** Text with a joiner before characters that would start a style or a quote. */
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

/** Replaces rendered mentions with nicks and lists their positions. */
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

/** Body without the quotation that a reply holds for clients without reply support (XEP-0428). */
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

/** The action in a "/me waves" message (XEP-0245). Undefined for ordinary text. */
export const actionIn = (body: string): string | undefined => /^\/me (?=.*\S)(.*)$/s.exec(body)?.[1];

const NAME_ENDS = new RegExp(`^[${UNSEEN}]*[:,](?:[${UNSEEN}]+|$)`, 'u');
const AT_NAME_ENDS = new RegExp(`^(?:[${UNSEEN}]*[:,]?(?:[${UNSEEN}]+|$))`, 'u');

/** "nick: …", "nick, …" and "@nick …" at the beginning are removed from the text. "@nick" elsewhere stays. */
export function spokenTo(text: string, nick: string): { readonly text: string; readonly isSpokenTo: boolean } {
  const start = text.replace(BEFORE_WORDS, '');
  const lower = start.toLowerCase();
  const name = nick.toLowerCase();
  for (const [prefix, ends] of [
    ['', NAME_ENDS],
    ['@', AT_NAME_ENDS],
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

/** Code points, the unit of positions in XMPP. */
const lettersOf = (text: string): readonly string[] => Array.from(text);
