// Splitting of a text that is too long for one message. It cuts segments, not rendered text, and each piece is rendered by itself:
// so fences, marks and tags are closed and opened again, and no escape is cut in two.
//
//   L1  No piece is over the limit in the adapter's unit, and no code point is cut.
//   L2  No text is lost but the blanks at a cut. Cuts are made at a paragraph, else a line, else a word, else between any two characters as
//       people see them (an emoji with its joiners, a flag, a letter with its marks), and inside of one only where it is over the limit alone.
//   L3  Links and mentions are cut only where one alone is over the limit: then they are text.
import type { Can } from '../sdk/adapter.ts';
import { plainText, type Segment } from '../sdk/message.ts';
import { render } from '../sdk/text/render.ts';

type Limits = Can['text'];

/** Size of a text in a platform's unit. */
export function sizeOf(text: string, unit: Limits['unit']): number {
  switch (unit) {
    case 'bytes':
      return Buffer.byteLength(text);
    case 'utf16':
      return text.length;
    case 'codepoints': {
      let count = 0;
      for (const _ of text) count += 1;
      return count;
    }
  }
}

/**
 * The rendered pieces in order; one when it all fits, and no more than `most`: what is behind them is left out. Undefined when not
 * even one character fits into the limit.
 */
export function split(
  segments: readonly Segment[],
  limits: Limits,
  most: number = Number.POSITIVE_INFINITY,
): readonly string[] | undefined {
  const whole = render(segments, limits.render);
  if (sizeOf(whole, limits.unit) <= limits.limit) return whole.trim() === '' ? [] : [whole];

  const flow = flowOf(segments);
  const pieces: string[] = [];
  let from = 0;
  while (from < flow.letters.length && pieces.length < most) {
    const piece = takePiece(flow, from, limits);
    if (piece === undefined) {
      const others = splitAsText({ flow, from, limits, most: most - pieces.length });
      return others && [...pieces, ...others];
    }
    if (piece.text !== '') pieces.push(piece.text);
    from = piece.next;
  }
  return pieces;
}

/** Segments as positions: a code point of a text, code or quote is one, a whole link or mention is one. */
interface Flow {
  readonly segments: readonly Segment[];
  readonly letters: readonly string[];
  /** Index of the segment that each position belongs to. */
  readonly owners: readonly number[];
}

const WHOLE = '\uFFFC';

function flowOf(segments: readonly Segment[]): Flow {
  const letters: string[] = [];
  const owners: number[] = [];
  for (const [index, segment] of segments.entries()) {
    for (const letter of 'text' in segment && segment.kind !== 'link' ? segment.text : WHOLE) {
      letters.push(letter);
      owners.push(index);
    }
  }
  return { segments, letters, owners };
}

function slice({ segments, letters, owners }: Flow, from: number, to: number): readonly Segment[] {
  const out: Segment[] = [];
  for (let start = from; start < to; ) {
    const owner = owners[start];
    let end = start;
    while (end < to && owners[end] === owner) end += 1;
    const segment = segments[owner ?? 0];
    if (segment !== undefined)
      out.push(
        segment.kind === 'link' || segment.kind === 'mention'
          ? segment
          : { ...segment, text: letters.slice(start, end).join('') },
      );
    start = end;
  }
  return out;
}

interface Piece {
  readonly text: string;
  readonly next: number;
}

function takePiece(flow: Flow, from: number, { limit, unit, render: how }: Limits): Piece | undefined {
  const textTo = (to: number): string => render(slice(flow, from, to), how);
  const fits = (to: number): boolean => sizeOf(textTo(to), unit) <= limit;
  const end = Math.min(flow.letters.length, from + limit + 1);
  const most = furthest(from, end, fits);
  if (most === from) return undefined;
  if (most === flow.letters.length) return { text: textTo(trimEnd(flow, from, most)), next: most };

  let cut = bestCut(flow, from, most);
  // Escapes make sizes not quite even: an earlier cut may need more room than a later one.
  while (cut > from + 1 && !fits(trimEnd(flow, from, cut))) cut -= 1;
  const between = betweenCharacters(flow, from, cut);
  if (fits(trimEnd(flow, from, between))) cut = between;
  const last = trimEnd(flow, from, cut);
  return { text: last === from ? '' : textTo(last), next: skipBlanks(flow, cut) };
}

/** The furthest end that was seen to fit. */
function furthest(from: number, end: number, fits: (to: number) => boolean): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The last paragraph, line or word that leaves the piece at least a third full. */
function bestCut({ letters }: Flow, from: number, most: number): number {
  const least = from + Math.ceil((most - from) / 3);
  const isLine = (at: number): boolean => letters[at] === '\n' || letters[at - 1] === '\n';
  const isParagraph = (at: number): boolean => letters[at] === '\n' && letters[at + 1] === '\n';
  const isWord = (at: number): boolean => isBlank(letters[at]) || isBlank(letters[at - 1]);
  for (const isBreak of [isParagraph, isLine, isWord]) {
    for (let at = most; at >= least; at -= 1) if (isBreak(at)) return at;
  }
  return most;
}

/** Made at the first text that is too long: it takes some milliseconds and MiB, which no start needs. */
let characters: Intl.Segmenter | undefined;

/** The begin of the character that a cut here would cut; the cut itself where that is none, or where the piece would be empty. */
function betweenCharacters({ letters }: Flow, from: number, cut: number): number {
  // Asked of one place: to walk over all characters of a long text takes as long as the square of its length.
  const before = letters.slice(from, cut).join('');
  characters ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const begin = characters.segment(before + (letters[cut] ?? '')).containing(before.length)?.index ?? before.length;
  return begin === 0 ? cut : cut - Array.from(before.slice(begin)).length;
}

const isBlank = (letter: string | undefined): boolean => letter !== undefined && /^\s$/.test(letter);
const isCode = ({ segments, owners }: Flow, at: number): boolean => segments[owners[at] ?? -1]?.kind === 'code';

function trimEnd(flow: Flow, from: number, to: number): number {
  let end = to;
  while (end > from && isBlank(flow.letters[end - 1])) end -= 1;
  return end;
}

/** Blanks after a cut are dropped; in code only the line's end, its indentation stays. */
function skipBlanks(flow: Flow, cut: number): number {
  let at = cut;
  if (isCode(flow, at)) return flow.letters[at] === '\n' ? at + 1 : at;
  while (isBlank(flow.letters[at]) && !isCode(flow, at)) at += 1;
  return at;
}

interface Rest {
  readonly flow: Flow;
  readonly from: number;
  readonly limits: Limits;
  readonly most: number;
}

/** Where what stands here does not fit by itself, its text alone is tried (L3). */
function splitAsText({ flow, from, limits, most }: Rest): readonly string[] | undefined {
  const [first, ...rest] = slice(flow, from, flow.letters.length);
  if (first === undefined || (first.kind === 'text' && first.marks === undefined)) return undefined;
  return split([{ kind: 'text', text: plainText([first]) }, ...rest], limits, most);
}
