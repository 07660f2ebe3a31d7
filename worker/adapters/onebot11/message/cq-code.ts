// The string form of messages: text with CQ codes, such as `[CQ:at,qq=10001000]`, and its pieces. Pure.
//
//   ONEBOT11-CQ-CODE-1  In text `&`, `[` and `]` are escaped, in values of a code `,` as well. There are no other escapes.
//   ONEBOT11-CQ-CODE-2  An incomplete code is plain text.
import { type Json, textAt } from '../../../sdk/platform/foreign-json.ts';

/** One piece of a message (a segment in OneBot): its type and data. */
export interface Piece {
  readonly type: string;
  readonly data: Json;
}

const CODE = /\[CQ:([^,[\]]+)((?:,[^[\]]*)?)\]/g;
const UNESCAPED: Readonly<Record<string, string>> = { '&#91;': '[', '&#93;': ']', '&#44;': ',', '&amp;': '&' };

export const textPiece = (text: string): Piece => ({ type: 'text', data: { text } });

export function parseCq(message: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  const text = (until: number): void => {
    if (until > at) pieces.push(textPiece(unescape(message.slice(at, until))));
  };
  for (const code of message.matchAll(CODE)) {
    const [whole, type = '', values = ''] = code;
    text(code.index);
    at = code.index + whole.length;
    pieces.push({ type, data: dataOf(values) });
  }
  text(message.length);
  return pieces;
}

export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('[', '&#91;').replaceAll(']', '&#93;');

export function formatCq({ type, data }: Piece): string {
  if (type === 'text') return escapeText(textAt(data, 'text') ?? '');
  const values = Object.entries(data).map(
    ([key, value]) => `,${key}=${escapeText(String(value)).replaceAll(',', '&#44;')}`,
  );
  return `[CQ:${type}${values.join('')}]`;
}

const unescape = (text: string): string =>
  text.replace(/&(?:#91|#93|#44|amp);/g, (escape) => UNESCAPED[escape] ?? escape);

/** Parses `,key=value,…`. A value may contain `=`. */
function dataOf(values: string): Json {
  const entries = values
    .split(',')
    .slice(1)
    .map((one): [string, string] => {
      const mark = one.indexOf('=');
      return mark === -1 ? [one, ''] : [one.slice(0, mark), unescape(one.slice(mark + 1))];
    });
  return Object.fromEntries(entries.filter(([key]) => key !== '__proto__'));
}
