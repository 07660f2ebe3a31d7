// Discord's Markdown in both directions. Pure.
//
//   T1  Incoming: `<@…>` becomes the person, `@everyone` of a message that calls everyone becomes that, a channel, an emoji and a time become
//       text; `**bold**` stays as typed.
//   T2  Outgoing: what is literal keeps its characters: markup is escaped by a backslash, but not in an address, which would no longer lead there.
//   T3  Nothing literal is a mention: a zero-width space stands in it, also in code. So the mentions of a text are the ones that were meant,
//       and `mentionsIn` allows those alone.
//   T4  A link with a scheme that could run something is text.
import type { Mark, Rich, Segment } from '../../sdk/index.ts';
import { SegmentList } from '../../sdk/text/segment-list.ts';
import { edgesOf } from '../../sdk/text/text-edges.ts';

const ZERO_WIDTH = '\u200b';
const SAFE_URL = /^(?:https?|discord):\/\/\S+$/i;

/** The endpoint of a person who is mentioned is put in by the host. */
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

/** The same without the mention of the bot that it begins with. */
export function withoutMention(segments: readonly Segment[], bot: string | undefined): readonly Segment[] {
  const [first, second, ...rest] = segments;
  if (first?.kind !== 'mention' || first.user === 'everyone' || first.user.id !== bot) return segments;
  if (second?.kind !== 'text') return segments.slice(1);
  const text = second.text.replace(/^[\s:,]+/, '');
  return text === '' ? rest : [{ ...second, text }, ...rest];
}

/** Plain text where there is nothing but text. */
export const plainWhereText = (segments: readonly Segment[]): string | readonly Segment[] =>
  segments.every((one) => one.kind === 'text') ? segments.map((one) => one.text).join('') : segments;

/** T3. What a rendered text may notify: nobody but whom it mentions. */
export function mentionsIn(text: string): {
  readonly parse: readonly string[];
  readonly users: readonly string[];
  readonly replied_user: false;
} {
  const users = [...new Set([...text.matchAll(/<@(\d{1,21})>/g)].map(([, id = '']) => id))];
  return { parse: /@everyone/.test(text) ? ['everyone'] : [], users: users.slice(0, 100), replied_user: false };
}

/** What goes into `content` of a message. */
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

/** T3. What stands in two segments becomes no mention, as `@` and a name that is `everyone`. */
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
  // Discord shows an address as the label of another one as it is typed.
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

/** One that holds a backquote stands between two. */
const codeSpan = (text: string): string =>
  text.includes('`')
    ? `\`\` ${unmentioned(text).replaceAll('``', `\`${ZERO_WIDTH}\``)} \`\``
    : `\`${unmentioned(text)}\``;

/** T2, T3. */
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

/** What would make a quote, a heading, small text or a list where it begins a line. */
const escapedStart = (line: string): string =>
  line.replace(/^(\s*)(?=>|#{1,3} |-#? |\+ )/, '$1\\').replace(/^(\s*\d{1,9})(?=[.)] )/, '$1\\');

/** T3. */
const unmentioned = (text: string): string =>
  text.replace(/<(?=[@#:/]|a:|t:|id:)/g, `<${ZERO_WIDTH}`).replace(/@(?=everyone|here)/g, `@${ZERO_WIDTH}`);
