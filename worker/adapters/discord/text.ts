// Converts Discord's Markdown in both directions. Pure.
//
//   DISCORD-TEXT-1  Incoming: `<@…>` becomes the person. `@everyone` becomes a mention if the message notifies everyone. A channel, emoji or time
//                   becomes text. `**bold**` stays as typed.
//   DISCORD-TEXT-2  Outgoing: markup in literal text is escaped by a backslash, except in URLs, which would break.
//   DISCORD-TEXT-3  Literal text never mentions: a zero-width space breaks the mention, in code as well. So only intended mentions remain, and
//                   `mentionsIn` allows only those.
//   DISCORD-TEXT-4  A link with a scheme that could run code becomes text.
import type { Mark, Rich, Segment } from '../../sdk/index.ts';
import { SegmentList } from '../../sdk/text/segment-list.ts';
import { edgesOf } from '../../sdk/text/text-edges.ts';

const ZERO_WIDTH = '\u200b';
const SAFE_URL = /^(?:https?|discord):\/\/\S+$/i;

/** The host adds the endpoint of mentioned people. */
export function segmentsOf(
  text: string,
  { everyone = false }: { readonly everyone?: boolean } = {},
): readonly Segment[] {
  const read = new SegmentList();
  let from = 0;
  for (const match of text.matchAll(
    /<@!?(\d{15,21})>|<#(\d{15,21})>|<a?(:\w{1,64}:)\d{15,21}>|<t:(-?\d{1,13})(?::\w)?>|@(?:everyone|here)/g,
  )) {
    read.say(text.slice(from, match.index));
    const [whole, person, channel, emoji, time] = match;
    from = match.index + whole.length;
    if (person !== undefined) read.add({ kind: 'mention', user: { endpoint: '', id: person } });
    else if (channel !== undefined) read.say(`#${channel}`);
    else if (emoji !== undefined) read.say(emoji);
    else if (time !== undefined) read.say(timeText(Number(time) * 1_000) ?? whole);
    else if (everyone) read.add({ kind: 'mention', user: 'everyone' });
    else read.say(whole);
  }
  read.say(text.slice(from));
  return read.segments;
}

function timeText(ms: number): string | undefined {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().replace('.000Z', 'Z');
}

/** A plain string if all segments are text. */
export const plainWhereText = (segments: readonly Segment[]): string | readonly Segment[] =>
  segments.every((one) => one.kind === 'text') ? segments.map((one) => one.text).join('') : segments;

/** Value of `allowed_mentions`: a rendered text may notify only people whom it mentions. */
export function mentionsIn(text: string): {
  readonly parse: readonly string[];
  readonly users: readonly string[];
  readonly replied_user: false;
} {
  const users = [...new Set([...text.matchAll(/<@(\d{1,21})>/g)].map(([, id = '']) => id))];
  return { parse: /@everyone/.test(text) ? ['everyone'] : [], users: users.slice(0, 100), replied_user: false };
}

/** Value of a message's `content`. */
export function toMarkdown({ segments }: Rich): string {
  let out = '';
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = rendered(segment, out === '' || out.endsWith('\n'));
    if (isBlock && out !== '' && !out.endsWith('\n')) out += '\n';
    if (isMentionBegun(out) && /^[\w@#&!:/]/.test(text)) out += ZERO_WIDTH;
    out += isBlock && !text.endsWith('\n') ? `${text}\n` : text;
  }
  const last = segments.at(-1)?.kind;
  return last === 'code' || last === 'quote' ? out.replace(/\n$/, '') : out;
}

/** Whether a mention could continue in the next segment, such as `@` followed by a name `everyone`. */
const isMentionBegun = (out: string): boolean => /(?:<[@#&!:/\w]{0,30}|@\w{0,8})$/.test(out);

function rendered(segment: Segment, isAtStart: boolean): string {
  switch (segment.kind) {
    case 'text':
      return marked(segment.text, segment.marks ?? [], isAtStart);
    case 'code': {
      const language = (segment.language ?? '').replace(/[^\w+#.-]/g, '');
      const text = unmentioned(segment.text.replace(/\n$/, '')).replaceAll('```', `\`${ZERO_WIDTH}\`\``);
      return `\`\`\`${language}\n${text}\n\`\`\``;
    }
    case 'quote':
      return literal(segment.text, false).replace(/^/gm, '> ');
    case 'mention':
      if (segment.user === 'everyone') return '@everyone';
      return /^\d{1,21}$/.test(segment.user.id) ? `<@${segment.user.id}>` : literal(`@${segment.user.id}`, isAtStart);
    case 'link':
      return linked(segment.text, segment.url, isAtStart);
  }
}

function linked(text: string, url: string, isAtStart: boolean): string {
  if (!SAFE_URL.test(url)) return literal(text === '' || text === url ? url : `${text} (${url})`, isAtStart);
  const target = unmentioned(url)
    .replace(/[()<>\\]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29');
  // Discord shows a label that is itself a URL as typed Markdown, so the label's `://` is broken.
  const label = text.replace(/\s+/g, ' ').replace(/:\/\//g, `:${ZERO_WIDTH}//`);
  return text === '' || text === url ? target : `[${literal(label, false)}](${target})`;
}

const SIGNS = { bold: '**', italic: '*', strike: '~~' } as const;

function marked(text: string, marks: readonly Mark[], isAtStart: boolean): string {
  const { before, inner, after } = edgesOf(text);
  if (marks.length === 0 || inner === '') return literal(text, isAtStart);
  const core = marks.includes('code') ? codeSpan(inner) : literal(inner, false);
  const whole = marks.reduceRight((out, mark) => (mark === 'code' ? out : `${SIGNS[mark]}${out}${SIGNS[mark]}`), core);
  return `${before}${whole}${after}`;
}

/** Code that contains a backquote is enclosed in two. */
const codeSpan = (text: string): string =>
  text.includes('`')
    ? `\`\` ${unmentioned(text).replaceAll('``', `\`${ZERO_WIDTH}\``)} \`\``
    : `\`${unmentioned(text)}\``;

/** Escapes markup and breaks mentions. URLs keep their characters. */
function literal(text: string, isAtStart: boolean): string {
  const pieces = text.split(/(https?:\/\/[^\s<>`|*]+)/);
  return pieces
    .map((piece, i) => (i % 2 === 1 ? unmentioned(piece) : escaped(piece, { isAtStart: i === 0 ? isAtStart : false })))
    .join('');
}

function escaped(text: string, { isAtStart }: { readonly isAtStart: boolean }): string {
  const signs = text.replace(/[\\*_~`|[\]]/g, '\\$&');
  const lines = signs.split('\n').map((line, i) => (i > 0 || isAtStart ? escapedStart(line) : line));
  return unmentioned(lines.join('\n'));
}

/** Escapes text that would begin a quote, heading, small text or list at the start of a line. */
const escapedStart = (line: string): string =>
  line.replace(/^(\s*)(?=>|#{1,3} |-#? |\+ )/, '$1\\').replace(/^(\s*\d{1,9})(?=[.)] )/, '$1\\');

/** Breaks mentions by a zero-width space. */
const unmentioned = (text: string): string =>
  text.replace(/<(?=[@#:/]|a:|t:|id:)/g, `<${ZERO_WIDTH}`).replace(/@(?=everyone|here)/g, `@${ZERO_WIDTH}`);
