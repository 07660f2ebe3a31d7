// Segments → Telegram's HTML. Pure but for the names of people that were seen, with which a mention is written.
//
//   T1  Whatever was written as text is escaped: & < > " are all that Telegram's parser reads. Behind it Telegram looks for names in what is
//       left, and notifies whoever has one: an invisible joiner stands behind the @ of a text, but not in an address or in code.
//   T2  A mention is a link to the person (`tg://user?id=…`), which notifies; a person with a public name is called by it.
//   T3  A link that Telegram does not take is text with its address: it drops the address of one with another scheme, or with a host that has no
//       dot, and makes one over http of a mail address. Mail addresses and numbers in a text it knows itself.
import type { Rich, Segment } from '../../sdk/index.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';

const MOST_NAMES = 10_000;
const names = new Map<string, { readonly name: string; readonly isPublic: boolean }>();

/** So that a mention can be read by people. The oldest are forgotten. */
export function rememberName(id: string, name: string, username: string | undefined): void {
  const shown = username === undefined ? { name, isPublic: false } : { name: `@${username}`, isPublic: true };
  keepNewest(names, [id, shown], MOST_NAMES);
}

const TAKEN =
  /^(?:tg:|ton:|https?:\/\/(?:[^\s/?#@]*@)?(?:\[[\da-f:.]+\]|[^\s/?#:@.]*\.[^\s/?#:@]*)(?::\d+)?(?:[/?#]|$))/i;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const TAGS = { bold: 'b', italic: 'i', strike: 's', code: 'code' } as const;

export function renderHtml({ segments }: Rich): string {
  let out = '';
  let isAfterBlock = false;
  let isAfterName = false;
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = htmlOf(segment);
    const needsBreak = (isBlock && out !== '' && !out.endsWith('\n')) || (isAfterBlock && !text.startsWith('\n'));
    // Or it would be a part of the name.
    if (isAfterName && !isBlock && 'text' in segment && /^\w/.test(segment.text)) out += JOINER;
    out += needsBreak ? `\n${text}` : text;
    isAfterBlock = isBlock;
    isAfterName = segment.kind === 'mention';
  }
  return out;
}

function htmlOf(segment: Segment): string {
  switch (segment.kind) {
    case 'text':
      return (segment.marks ?? []).reduceRight(
        (text, mark) => `<${TAGS[mark]}>${text}</${TAGS[mark]}>`,
        segment.marks?.includes('code') === true ? escapeHtml(segment.text) : literal(segment.text),
      );
    case 'link':
      return TAKEN.test(segment.url)
        ? `<a href="${escapeHtml(segment.url)}">${literal(segment.text || segment.url)}</a>`
        : literal(addressed(segment.text, segment.url.replace(/^(?:mailto|tel):/i, '')));
    case 'code': {
      const language = (segment.language ?? '').replace(/[^\w+#.-]/g, '');
      const text = escapeHtml(segment.text.replace(/\n$/, ''));
      return language === '' ? `<pre>${text}</pre>` : `<pre><code class="language-${language}">${text}</code></pre>`;
    }
    case 'quote':
      return `<blockquote>${literal(segment.text)}</blockquote>`;
    case 'mention':
      return segment.user === 'everyone' ? literal('@everyone') : mention(segment.user.id);
  }
}

const addressed = (text: string, url: string): string => (text === '' || text === url ? url : `${text} (${url})`);

function mention(id: string): string {
  const known = names.get(id);
  if (known?.isPublic === true) return escapeHtml(known.name);
  const name = known?.name ?? `@${id}`;
  return /^\d{1,20}$/.test(id) ? `<a href="tg://user?id=${id}">${escapeHtml(name)}</a>` : literal(name);
}

const JOINER = '\u2060';
/** T1. */
export const literal = (text: string): string =>
  text
    .split(/(https?:\/\/\S+)/)
    .map((piece, i) => escapeHtml(i % 2 === 1 ? piece : piece.replace(/(?<!\w)@(?=\w|$)/g, `@${JOINER}`)))
    .join('');
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

/** How long this HTML is once its tags are read: what Telegram's limits count. */
export const visibleLength = (html: string): number =>
  html.replace(/<[^>]*>/g, '').replace(/&(?:amp|lt|gt|quot);/g, '.').length;
