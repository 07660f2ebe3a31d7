// Text with Telegram's entities → segments. Pure. Offsets count UTF-16 units, as strings of JavaScript do.
//
//   E1  Every character is in exactly one segment, whatever the entities say: ones that lie outside the text or overlap are cut.
//   E2  Links, mentions by id, code blocks and quotes are segments of their own; bold, italic, strike and code are marks, which nest.
//   E3  An address without a scheme is what was typed: that Telegram makes a link of it is no part of what was said.
import type { MessageEntity } from 'grammy/types';
import type { Mark, Segment } from '../../sdk/index.ts';

const MARKS: Readonly<Partial<Record<MessageEntity['type'], Mark>>> = {
  bold: 'bold',
  italic: 'italic',
  strikethrough: 'strike',
  code: 'code',
};
const WHOLE = new Set(['text_link', 'url', 'pre', 'blockquote', 'expandable_blockquote', 'text_mention']);

/** Plain text where no entity means anything. */
export function segmentsOf(text: string, entities: readonly MessageEntity[] = []): string | readonly Segment[] {
  const fitting = entities.filter(({ offset, length }) => offset >= 0 && length > 0 && offset + length <= text.length);
  const isBare = ({ type, offset, length }: MessageEntity): boolean =>
    type === 'url' && !/^[a-z][a-z0-9+.-]*:/i.test(text.slice(offset, offset + length)); // E3
  const whole = fitting
    .filter((entity) => WHOLE.has(entity.type) && !isBare(entity))
    .toSorted((a, b) => a.offset - b.offset);
  const marks = fitting.filter(({ type }) => MARKS[type] !== undefined);
  if (whole.length === 0 && marks.length === 0) return text;

  const segments: Segment[] = [];
  let at = 0;
  for (const entity of whole) {
    if (entity.offset < at) continue; // inside the one before it
    segments.push(...marked(text, marks, { from: at, to: entity.offset }));
    at = entity.offset + entity.length;
    segments.push(wholeSegment(text.slice(entity.offset, at), entity));
  }
  return [...segments, ...marked(text, marks, { from: at, to: text.length })];
}

function wholeSegment(text: string, entity: MessageEntity): Segment {
  switch (entity.type) {
    case 'text_link':
      return { kind: 'link', text, url: entity.url };
    case 'url':
      return { kind: 'link', text, url: text };
    case 'text_mention':
      return { kind: 'mention', user: { endpoint: '', id: String(entity.user.id) } };
    case 'pre':
      return { kind: 'code', text, ...(entity.language ? { language: entity.language } : {}) };
    default:
      return { kind: 'quote', text };
  }
}

function marked(
  text: string,
  entities: readonly MessageEntity[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly Segment[] {
  const cuts = entities.flatMap(({ offset, length }) => [offset, offset + length]).filter((at) => at > from && at < to);
  const edges = [...new Set([from, ...cuts, to])].toSorted((a, b) => a - b);
  return edges.slice(1).flatMap((end, i): readonly Segment[] => {
    const start = edges[i] ?? from;
    if (start === end) return [];
    const marks = entities.flatMap(({ type, offset, length }) => {
      const mark = offset <= start && offset + length >= end ? MARKS[type] : undefined;
      return mark === undefined ? [] : [mark];
    });
    const piece = text.slice(start, end);
    return [{ kind: 'text', text: piece, ...(marks.length === 0 ? {} : { marks: [...new Set(marks)] }) }];
  });
}
