// `md`: light markup for plugin authors, parsed from the template. Values are never parsed as markup: they are text or segments.
//
// **bold** _italic_ ~~strike~~ `code` [text](url), > quote at the start of a line, and ``` fences with a language.
import { type Mark, plainText, type Rich, type Segment } from '../message.ts';

type Value = string | number | Segment;

// No alternative may match past the next opening sign of its kind. Otherwise a run of n signs would be scanned to its end n times.
const SPAN =
  /```(\w*)\n([\s\S]*?)```|`([^`]+)`|\*\*([^*]+)\*\*|~~([^~]+)~~|(?<!\w)_([^_]+)_(?!\w)|\[([^[\]]+)\]\(((?:(?!\]\()[^)\s])+)\)|^> ([^\n]*)/gm;
// Stands for a value while the markup around it is parsed. The characters are from Unicode's private-use area, so no markup uses them.
const HOLE = /\uE000(\d+)\uE001/g;
const NOT_A_HOLE = /[\uE000\uE001]/g;

/**
 * Formatted text: **bold**, _italic_ (`*…*` is not), ~~strike~~, `code`, [text](url), > quote at the start of a line, and ``` fences with a
 * language. Only the template is parsed as markup; values are literal text, and segments (mentions) are kept.
 */
export function md(parts: TemplateStringsArray, ...values: readonly Value[]): Rich {
  const source = parts
    .map((part, i) => `${part.replace(NOT_A_HOLE, '')}${i < values.length ? `\uE000${i}\uE001` : ''}`)
    .join('');
  return { segments: readSpans(source, values, []) };
}

function readSpans(source: string, values: readonly Value[], marks: readonly Mark[]): readonly Segment[] {
  const segments: Segment[] = [];
  let last = 0;
  for (const match of source.matchAll(SPAN)) {
    segments.push(...fill(source.slice(last, match.index), values, marks), ...readSpan(match, values, marks));
    last = match.index + match[0].length;
  }
  return [...segments, ...fill(source.slice(last), values, marks)];
}

function readSpan(match: RegExpExecArray, values: readonly Value[], marks: readonly Mark[]): readonly Segment[] {
  const [, language, fence, code, bold, strike, italic, label, url, quote] = match;
  if (fence !== undefined) return [{ kind: 'code', text: literal(fence, values), ...(language ? { language } : {}) }];
  if (code !== undefined) return fill(code, values, [...marks, 'code']);
  if (bold !== undefined) return readSpans(bold, values, [...marks, 'bold']);
  if (strike !== undefined) return readSpans(strike, values, [...marks, 'strike']);
  if (italic !== undefined) return readSpans(italic, values, [...marks, 'italic']);
  if (label !== undefined) return [{ kind: 'link', text: literal(label, values), url: literal(url ?? '', values) }];
  return [{ kind: 'quote', text: literal(quote ?? '', values) }];
}

/** Replaces the placeholders in `source` by their values. */
function fill(source: string, values: readonly Value[], marks: readonly Mark[]): readonly Segment[] {
  return source.split(HOLE).flatMap((piece, i): readonly Segment[] => {
    const value = i % 2 === 0 ? piece : values[Number(piece)];
    if (typeof value === 'object') return [value];
    return value === undefined || value === ''
      ? []
      : [{ kind: 'text', text: String(value), ...(marks.length === 0 ? {} : { marks }) }];
  });
}

/** Replaces the placeholders by text only: a segment gives its plain text. */
function literal(source: string, values: readonly Value[]): string {
  return source.replace(HOLE, (_, i: string) => {
    const value = values[Number(i)];
    return typeof value === 'object' ? plainText([value]) : String(value ?? '');
  });
}
