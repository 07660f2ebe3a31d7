// Renders segments as Telegram's HTML. Pure except for the remembered names of people, which mentions show.
//
//   TELEGRAM-RENDER-1  Text is escaped; Telegram's parser reads only & < > ". Telegram also finds @names in a text and notifies those people.
//                      An invisible joiner after each @ of a text prevents that. Addresses and code have none.
//   TELEGRAM-RENDER-2  A mention is a link to the person (`tg://user?id=…`), which notifies. A person with a public name is mentioned by it.
//   TELEGRAM-RENDER-3  A link that Telegram does not accept is text with its address.
//                      Telegram drops a link with another scheme or a host without a dot, and makes an http link of a mail address.
//                      Mail addresses and phone numbers in a text are recognized by Telegram itself.
import type { Rich, Segment } from '../../sdk/index.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';

const MOST_NAMES = 10_000;
const names = new Map<string, { readonly name: string; readonly isPublic: boolean }>();

/** Remembers a name for mentions. The oldest names are forgotten. */
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
    // Without a joiner Telegram would read the following letters as a part of the name.
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
/** Escapes text and puts a joiner after each @, so that Telegram notifies nobody. URLs get no joiner. */
export const literal = (text: string): string =>
  text
    .split(/(https?:\/\/\S+)/)
    .map((piece, i) => escapeHtml(i % 2 === 1 ? piece : piece.replace(/(?<!\w)@(?=\w|$)/g, `@${JOINER}`)))
    .join('');
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

/** Length of the HTML without tags, which Telegram's limits count. */
export const visibleLength = (html: string): number =>
  html.replace(/<[^>]*>/g, '').replace(/&(?:amp|lt|gt|quot);/g, '.').length;
