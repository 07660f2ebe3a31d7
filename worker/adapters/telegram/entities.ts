// Converts text with Telegram's entities to segments. Pure. Offsets count UTF-16 units, like JavaScript strings.
//
//   TELEGRAM-ENTITIES-1  Every character is in exactly one segment. Entities outside the text or overlapping others are cut or dropped.
//   TELEGRAM-ENTITIES-2  Links, mentions by id, code blocks and quotes are separate segments. Bold, italic, strike and code are nested marks.
//   TELEGRAM-ENTITIES-3  An address without a scheme stays plain text, because Telegram and not the person made it a link.
import type { MessageEntity } from 'grammy/types';
import type { Mark, Segment } from '../../sdk/index.ts';

const MARKS: Readonly<Partial<Record<MessageEntity['type'], Mark>>> = {
  bold: 'bold',
  italic: 'italic',
  strikethrough: 'strike',
  code: 'code',
};
const WHOLE = new Set(['text_link', 'url', 'pre', 'blockquote', 'expandable_blockquote', 'text_mention']);

/** Returns the plain text if no entity has a meaning here. */
export function segmentsOf(text: string, entities: readonly MessageEntity[] = []): string | readonly Segment[] {
  const fitting = entities.filter(({ offset, length }) => offset >= 0 && length > 0 && offset + length <= text.length);
  const isBare = ({ type, offset, length }: MessageEntity): boolean =>
    type === 'url' && !/^[a-z][a-z0-9+.-]*:/i.test(text.slice(offset, offset + length)); // Telegram made it a link
  const whole = fitting
    .filter((entity) => WHOLE.has(entity.type) && !isBare(entity))
    .toSorted((a, b) => a.offset - b.offset);
  const marks = fitting.filter(({ type }) => MARKS[type] !== undefined);
  if (whole.length === 0 && marks.length === 0) return text;

  const segments: Segment[] = [];
  let at = 0;
  for (const entity of whole) {
    if (entity.offset < at) continue; // inside the previous entity
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
