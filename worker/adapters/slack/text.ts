// Converts Slack's mrkdwn in both directions. Pure.
//
//   SLACK-TEXT-1  Incoming: `<…>` becomes its meaning (person, everyone, channel, link); `&amp; &lt; &gt;` become characters.
//                 `*bold*` stays as typed.
//   SLACK-TEXT-2  Outgoing: `& < >` are escaped, so literal text creates no mention or link. mrkdwn has no escape for `* _ ~` and backquotes.
//                 A zero-width space follows a character that could start formatting or a fence. URLs are exempt, as it would break them.
//                 In `@channel`, `@here` and `@everyone` the space follows the @, as Slack reads mentions in blocks and edits.
//   SLACK-TEXT-3  A link whose scheme could run something is sent as text.
//   SLACK-TEXT-4  Slack ignores formatting signs beside a letter, a full-width character or another formatted run.
//                 A zero-width space separates them.
import type { Mark, Rich, Segment } from '../../sdk/index.ts';
import { SegmentList } from '../../sdk/text/segment-list.ts';
import { edgesOf } from '../../sdk/text/text-edges.ts';

const BROADCASTS = new Set(['here', 'channel', 'everyone']);
const SAFE_URL = /^(?:https?|mailto|tel|slack):/i;
const ZERO_WIDTH = '\u200b';
/** Characters beside which Slack ignores formatting: all but blanks and ASCII punctuation, plus the formatting signs. */
const CLINGING = '(?:[^\\s\u200b!-/:-@[-`{-~]|[*_~`])';
const CLINGS_BEFORE = new RegExp(`${CLINGING}$`, 'u');
const CLINGS_BEHIND = new RegExp(`^${CLINGING}`, 'u');

/** Segments of an incoming text. The host fills in the endpoint of mentioned persons. */
export function segmentsOf(text: string): readonly Segment[] {
  const read = new SegmentList();
  let from = 0;
  for (const match of text.matchAll(/<([^<>\n]+)>/g)) {
    read.say(unescape(text.slice(from, match.index)));
    const meant = bracketed(match[1] ?? '');
    if (typeof meant === 'string') read.say(meant);
    else read.add(meant);
    from = match.index + match[0].length;
  }
  read.say(unescape(text.slice(from)));
  return read.segments;
}

/** A segment for the content of angle brackets, or its text if it has no special meaning. */
function bracketed(inside: string): Segment | string {
  const bar = inside.indexOf('|');
  const target = bar === -1 ? inside : inside.slice(0, bar);
  const label = bar === -1 ? '' : unescape(inside.slice(bar + 1));
  const name = target.slice(1);
  if (/^@[A-Z0-9]+$/.test(target)) return { kind: 'mention', user: { endpoint: '', id: name } };
  if (/^#[A-Z0-9]+$/.test(target)) return `#${label === '' ? name : label}`;
  if (target.startsWith('!')) return BROADCASTS.has(name) ? { kind: 'mention', user: 'everyone' } : label || `@${name}`;
  const url = unescape(target);
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) return `<${unescape(inside)}>`;
  if (label === '' || url === label) return { kind: 'link', text: url, url };
  // Slack turns typed addresses into links by itself.
  return url.replace(/^(?:https?:\/\/|mailto:|tel:)/, '').replace(/\/$/, '') === label
    ? label
    : { kind: 'link', text: label, url };
}

const unescape = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The incoming text without formatting. */
export const plainOf = (text: string): string =>
  segmentsOf(text)
    .map((one) => (one.kind === 'mention' ? `@${one.user === 'everyone' ? 'everyone' : one.user.id}` : textOf(one)))
    .join('');

const textOf = (segment: Exclude<Segment, { kind: 'mention' }>): string =>
  segment.kind === 'link' && segment.text !== segment.url ? `${segment.text} (${segment.url})` : segment.text;

export const mentions = (segments: readonly Segment[], user: string): boolean =>
  segments.some((one) => one.kind === 'mention' && one.user !== 'everyone' && one.user.id === user);

/** Renders the `text` field of a message as mrkdwn. */
export function toMrkdwn({ segments }: Rich): string {
  let out = '';
  let isBehindRun = false;
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = rendered(segment);
    if (isBlock && out !== '' && !out.endsWith('\n')) out += '\n';
    const isRun = segment.kind === 'text' && (segment.marks ?? []).length > 0;
    const isBeside = isRun && /^[*_~`]/.test(text) && CLINGS_BEFORE.test(out.slice(-2));
    if (isBeside || (isBehindRun && /[*_~`]$/.test(out) && CLINGS_BEHIND.test(text))) out += ZERO_WIDTH;
    isBehindRun = isRun;
    out += isBlock && !text.endsWith('\n') ? `${text}\n` : text;
  }
  return segments.at(-1)?.kind === 'code' || segments.at(-1)?.kind === 'quote' ? out.replace(/\n$/, '') : out;
}

function rendered(segment: Segment): string {
  switch (segment.kind) {
    case 'text':
      return marked(segment.text, segment.marks ?? []);
    case 'code':
      return `\`\`\`\n${escape(segment.text.replace(/\n$/, '')).replaceAll('```', `\`${ZERO_WIDTH}\`\``)}\n\`\`\``;
    case 'quote':
      return literal(segment.text).replace(/^/gm, '> ');
    case 'mention':
      return segment.user === 'everyone' ? '<!channel>' : mentionOf(segment.user.id);
    case 'link':
      return linked(segment.text, segment.url);
  }
}

const mentionOf = (id: string): string => (/^[A-Z0-9]+$/.test(id) ? `<@${id}>` : literal(`@${id}`));

function linked(text: string, url: string): string {
  if (!SAFE_URL.test(url)) return literal(text === '' || text === url ? url : `${text} (${url})`);
  const target = escape(url).replace(/[|\s]/g, encodeURIComponent);
  return text === '' || text === url
    ? `<${target}>`
    : `<${target}|${escape(text).replaceAll('|', '¦').replace(/\s+/g, ' ')}>`;
}

const SIGNS = { bold: '*', italic: '_', strike: '~', code: '`' } as const;

function marked(text: string, marks: readonly Mark[]): string {
  const { before, inner, after } = edgesOf(text);
  if (marks.length === 0 || inner === '') return literal(text);
  const isCode = marks.includes('code');
  // Slack ends formatting at a line break, and inline code has no escape for a backquote.
  const lines = inner.split('\n').map((line) => {
    if (line.trim() === '') return line;
    const { before: left, inner: words, after: right } = edgesOf(line);
    const core = isCode ? `\`${escape(words).replaceAll('`', 'ˋ')}\`` : literal(words);
    const run = marks.reduceRight((out, mark) => (mark === 'code' ? out : `${SIGNS[mark]}${out}${SIGNS[mark]}`), core);
    return `${left}${run}${right}`;
  });
  return `${before}${lines.join('\n')}${after}`;
}

/** Escapes a text so that Slack shows it without formatting, mentions or links. URLs stay usable. */
export const literal = (text: string): string =>
  escape(text)
    .replace(
      /(https?:\/\/[^\s|`]+)|@(?=(?:channel|everyone|here)\b)|(?<![\p{L}\p{N}])[*_~`]+(?=\S)/giu,
      (found, address: string | undefined) => address ?? `${found}${ZERO_WIDTH}`,
    )
    .replace(/`{3,}/g, (fence) => Array.from(fence).join(ZERO_WIDTH))
    .replace(/^([^\S\r\n\u2028\u2029]*)(&gt;)/gm, `$1${ZERO_WIDTH}$2`);
