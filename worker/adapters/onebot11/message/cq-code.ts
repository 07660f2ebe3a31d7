// The string form of messages: text with CQ codes in it, `[CQ:at,qq=10001000]`, and the pieces that it stands for. Pure.
//
//   Q1  In text `&`, `[` and `]` are escaped, in the values of a code `,` as well; nothing else is an escape.
//   Q2  What is no whole code is text, as it stands.
import { type Json, textAt } from '../../../sdk/platform/foreign-json.ts';

/** One piece of a message, as OneBot calls a segment: its type and what it holds. */
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

/** `,key=value,…`: what is behind the first `=` is the value. */
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
