// Slack's mrkdwn in both directions. Pure.
//
//   T1  Incoming: `<…>` becomes what it means (person, everyone, channel, link), `&amp; &lt; &gt;` the characters; `*bold*` stays as typed.
//   T2  Outgoing: `& < >` are escaped, so that nothing literal is a mention or a link. mrkdwn has no escape for `* _ ~` and backquotes:
//       where one could open a run, or fence a block, a zero-width space behind it keeps it a character, but not in an address, which would no
//       longer lead there. The same stands in `@channel` and its like, which Slack makes mentions of in blocks and in edits.
//   T3  A link with a scheme that could run something is text.
//   T4  A run with marks stands apart: beside a letter (of scripts without blanks, too), a full-width sign or another run Slack reads no mark. There
//       a zero-width space is put between.
import type { Mark, Rich, Segment } from '../../sdk/index.ts';
import { SegmentList } from '../../sdk/text/segment-list.ts';
import { edgesOf } from '../../sdk/text/text-edges.ts';

const BROADCASTS = new Set(['here', 'channel', 'everyone']);
const SAFE_URL = /^(?:https?|mailto|tel|slack):/i;
const ZERO_WIDTH = '\u200b';
/** T4. Neither blank nor a sign of ASCII that is no mark. */
const CLINGING = '(?:[^\\s\u200b!-/:-@[-`{-~]|[*_~`])';
const CLINGS_BEFORE = new RegExp(`${CLINGING}$`, 'u');
const CLINGS_BEHIND = new RegExp(`^${CLINGING}`, 'u');

/** The endpoint of a person who is mentioned is put in by the host. */
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

/** What stands between angle brackets, or its text where it is no more than that. */
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
  // Slack makes links of what people typed without one.
  return url.replace(/^(?:https?:\/\/|mailto:|tel:)/, '').replace(/\/$/, '') === label
    ? label
    : { kind: 'link', text: label, url };
}

const unescape = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The same as text alone. */
export const plainOf = (text: string): string =>
  segmentsOf(text)
    .map((one) => (one.kind === 'mention' ? `@${one.user === 'everyone' ? 'everyone' : one.user.id}` : textOf(one)))
    .join('');

const textOf = (segment: Exclude<Segment, { kind: 'mention' }>): string =>
  segment.kind === 'link' && segment.text !== segment.url ? `${segment.text} (${segment.url})` : segment.text;

/** The same without the mention of the bot that it begins with. */
export function withoutMention(segments: readonly Segment[], bot: string | undefined): readonly Segment[] {
  const [first, second, ...rest] = segments;
  if (first?.kind !== 'mention' || first.user === 'everyone' || first.user.id !== bot) return segments;
  if (second?.kind !== 'text') return segments.slice(1);
  const text = second.text.replace(/^[\s:,]+/, '');
  return text === '' ? rest : [{ ...second, text }, ...rest];
}

export const mentions = (segments: readonly Segment[], user: string): boolean =>
  segments.some((one) => one.kind === 'mention' && one.user !== 'everyone' && one.user.id === user);

/** What goes into `text` of a message, as mrkdwn. */
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
  // A run ends with its line, and inline code knows no other character than the end of it.
  const lines = inner.split('\n').map((line) => {
    if (line.trim() === '') return line;
    const { before: left, inner: words, after: right } = edgesOf(line);
    const core = isCode ? `\`${escape(words).replaceAll('`', 'ˋ')}\`` : literal(words);
    const run = marks.reduceRight((out, mark) => (mark === 'code' ? out : `${SIGNS[mark]}${out}${SIGNS[mark]}`), core);
    return `${left}${run}${right}`;
  });
  return `${before}${lines.join('\n')}${after}`;
}

/** T2. */
export const literal = (text: string): string =>
  escape(text)
    .replace(
      /(https?:\/\/[^\s|`]+)|@(?=(?:channel|everyone|here)\b)|(?<![\p{L}\p{N}])[*_~`]+(?=\S)/giu,
      (found, address: string | undefined) => address ?? `${found}${ZERO_WIDTH}`,
    )
    .replace(/`{3,}/g, (fence) => Array.from(fence).join(ZERO_WIDTH))
    .replace(/^([^\S\r\n\u2028\u2029]*)(&gt;)/gm, `$1${ZERO_WIDTH}$2`);
