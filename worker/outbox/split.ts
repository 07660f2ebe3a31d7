// Splits a text that is too long for one message. It cuts segments rather than rendered text, and renders each piece separately. Fences, marks and
// tags are therefore closed and opened again, and no escape is cut in two.
//
//   SPLIT-1  No piece exceeds the limit in the adapter's unit. No code point is cut.
//   SPLIT-2  No text is lost except blanks at a cut. A cut is made at a paragraph, else a line, else a word, else between two grapheme clusters. A
//            grapheme cluster (an emoji with joiners, a letter with marks) is cut only if it exceeds the limit alone.
//   SPLIT-3  A link or mention is cut only if it exceeds the limit alone; then it becomes text.
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

/** The rendered pieces in order, at most `most`; the rest is left out. Undefined if not even one character fits into the limit. */
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

/** Segments as positions. A code point of a text, code or quote is one position; so is a whole link or mention. */
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
  // Escapes make sizes uneven: an earlier cut may need more room than a later one.
  while (cut > from + 1 && !fits(trimEnd(flow, from, cut))) cut -= 1;
  const between = betweenCharacters(flow, from, cut);
  if (fits(trimEnd(flow, from, between))) cut = between;
  const last = trimEnd(flow, from, cut);
  return { text: last === from ? '' : textTo(last), next: skipBlanks(flow, cut) };
}

/** The furthest end that fits, by binary search. */
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

/** The last paragraph, line or word end that leaves the piece at least a third full. */
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

/** Created for the first long text, because a segmenter costs milliseconds and MiB that a start should not spend. */
let characters: Intl.Segmenter | undefined;

/**
 * Moves the cut to the beginning of the grapheme cluster that it would split. The cut stays if it splits none, or if the piece would become empty.
 */
function betweenCharacters({ letters }: Flow, from: number, cut: number): number {
  // Asks about one position only. Walking over all clusters of a long text at every cut would take quadratic time.
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

/** Drops blanks after a cut. In code only the line end is dropped, so indentation stays. */
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

/** The first segment does not fit alone, so its plain text is split instead. */
function splitAsText({ flow, from, limits, most }: Rest): readonly string[] | undefined {
  const [first, ...rest] = slice(flow, from, flow.letters.length);
  if (first === undefined || (first.kind === 'text' && first.marks === undefined)) return undefined;
  return split([{ kind: 'text', text: plainText([first]) }, ...rest], limits, most);
}
