// Converts marks of the message model to IRC formatting codes and back. Pure.
//
//   IRC-FORMATTING-1  Outgoing: every line is enclosed in the codes of its marks, because codes end with the line. Control characters are removed
//                     from literal text, so it contains no codes.
//   IRC-FORMATTING-2  Incoming: bold, italic, struck-through and monospace text gets its mark, up to the code's end, a reset or the line's end.
//                     Colour, underline and reverse have no mark and are dropped.
//   IRC-FORMATTING-3  When a long line is split, open codes end in the first part and begin again in the next.
import type { Mark, Rich, Segment } from '../../sdk/index.ts';
import { plainText } from '../../sdk/message.ts';

const ORDER: readonly Mark[] = ['bold', 'italic', 'strike', 'code'];
/** A code begins its mark, and ends it the second time. */
const CODES: Readonly<Record<Mark, string>> = {
  bold: '\u0002',
  italic: '\u001d',
  strike: '\u001e',
  code: '\u0011',
};
const MARKS = new Map(ORDER.map((mark) => [CODES[mark], mark]));
const RESET = '\u000f';
/** Most bytes of codes that end or begin a line. */
export const MOST_CODE_BYTES = ORDER.length;

type Run = Extract<Segment, { kind: 'text' }>;

/** Encloses every line in the codes of its marks. Blocks get their own lines. */
export function renderCodes({ segments }: Rich): string {
  let out = '';
  let isAfterBlock = false;
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = coded(segment);
    if (text === '') continue;
    if ((isBlock || isAfterBlock) && out !== '' && !out.endsWith('\n') && !text.startsWith('\n')) out += '\n';
    out += text;
    isAfterBlock = isBlock;
  }
  return out;
}

function coded(segment: Segment): string {
  switch (segment.kind) {
    case 'text':
      return between(literal(segment.text), segment.marks ?? []);
    case 'code':
      return between(literal(segment.text).replace(/\n$/, ''), ['code']);
    case 'quote':
    case 'link':
    case 'mention':
      return literal(plainText([segment]));
  }
}

function between(text: string, marks: readonly Mark[]): string {
  const codes = ORDER.filter((mark) => marks.includes(mark)).map((mark) => CODES[mark]);
  if (codes.length === 0) return text;
  const [begin, end] = [codes.join(''), codes.toReversed().join('')];
  return text.replace(/^.*\S.*$/gm, (line) => `${begin}${line}${end}`);
}

const literal = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');

/** Removes all control characters except codes of marks, so a line cannot hide anything else. */
export const onlyCodes = (line: string): string => line.replace(/[^\P{Cc}\u0002\u0011\u001d\u001e]/gu, '');
export const withoutCodes = (text: string): string => text.replace(/[\u0002\u0011\u001d\u001e]/g, '');
export const hasCodes = (text: string): boolean => /[\u0002\u0011\u001d\u001e]/.test(text);

/** The codes open at the end of this part of a line, in order of their start. */
export function openIn(begin: string): readonly string[] {
  const open = new Set<string>();
  for (const code of begin.match(/[\u0002\u0011\u001d\u001e]/g) ?? []) if (!open.delete(code)) open.add(code);
  return [...open];
}

const CODE = /(\u0003(?:\d{1,2}(?:,\d{1,2})?)?|\u0004(?:[0-9a-fA-F]{6}(?:,[0-9a-fA-F]{6})?)?|[^\P{Cc}\t\u0003\u0004])/u;

/** Splits an incoming line into runs of text with equal marks. No run is empty. */
export function readCodes(line: string): readonly Run[] {
  const runs: Run[] = [];
  let marks = new Set<Mark>();
  for (const [i, piece] of line.split(CODE).entries()) {
    if (i % 2 === 0) {
      if (piece !== '') runs.push(run(piece.replaceAll('\t', ' '), marks));
      continue;
    }
    const mark = MARKS.get(piece);
    if (piece === RESET) marks = new Set();
    else if (mark !== undefined && !marks.delete(mark)) marks.add(mark);
  }
  return runs;
}

function run(text: string, marks: ReadonlySet<Mark>): Run {
  const has = ORDER.filter((mark) => marks.has(mark));
  return { kind: 'text', text, ...(has.length === 0 ? {} : { marks: has }) };
}

/** The runs without their first `length` UTF-16 units. */
export function behind(runs: readonly Run[], length: number): readonly Run[] {
  let left = length;
  return runs.flatMap((one) => {
    const text = one.text.slice(left);
    left = Math.max(0, left - one.text.length);
    return text === '' ? [] : [{ ...one, text }];
  });
}

/** Adds the mark to all runs. */
export const alsoMarked = (runs: readonly Run[], mark: Mark): readonly Run[] =>
  runs.map(({ text, marks = [] }) => run(text, new Set([...marks, mark])));

/** The text of an event. A plain string if nothing is marked. */
export function textOf(runs: readonly Run[]): string | readonly Segment[] {
  if (runs.every(({ marks }) => marks === undefined)) return plainText(runs);
  const merged: Run[] = [];
  for (const one of runs) {
    const last = merged.at(-1);
    if (last !== undefined && String(last.marks) === String(one.marks))
      merged[merged.length - 1] = { ...last, text: last.text + one.text };
    else merged.push(one);
  }
  return merged;
}
