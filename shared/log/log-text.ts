// Text that something has printed (a plugin, a package) as lines of the log: each line stamped, many of them in one write. Put together as bytes
// in one place that is used again and again: as texts, 200 MB of lines would leave the heap larger by a dozen.
import { escapeLine, isAscii } from './redaction.ts';

export interface TextStamp {
  readonly level: 'info' | 'warn';
  /** Where it was printed: stdout or stderr. */
  readonly source: string;
}

export interface StampedLines {
  /** What is written at once; only until the next block is asked for. */
  readonly block: Buffer;
  readonly lines: number;
}

const BLOCK_CHARACTERS = 64 * 1024;
const HEAD_BYTES = 4 * 1024;
const STAMPED_BYTES = 192 * 1024;
/** The end of a line. */
const TAIL = '"}\n';
/** Where what is where: the block as it came, the end of a line with the head of the next, the stamped lines. */
const GLUE_AT = BLOCK_CHARACTERS;
const HEAD_AT = GLUE_AT + TAIL.length;
const STAMPED_AT = GLUE_AT + HEAD_BYTES;

/** What is escaped in a line, besides what is not ASCII; the line feed ends it. Looked for one by one, each at the speed of memory. */
const NOT_PLAIN = [
  '"',
  '\\',
  '\u007f',
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((character) => character !== '\n'),
];

const isPlain = (text: string): boolean => isAscii(text) && !NOT_PLAIN.some((character) => text.includes(character));

export class LineStamper {
  readonly #base: Readonly<Record<string, string | number>>;
  #bytes: Buffer | undefined;

  constructor(base: Readonly<Record<string, string | number>>) {
    this.#base = base;
  }

  /** Blocks of whole lines; empty lines are left out. The text ends with a line feed. */
  *blocks(text: string, { level, source }: TextStamp): Generator<StampedLines> {
    const fields = JSON.stringify({ ...this.#base, source }).slice(1, -1);
    for (let from = 0; from < text.length; ) {
      const end = endOfBlock(text, from);
      const part = text.slice(from, end);
      from = end;
      const head = `{"level":"${level}","time":"${new Date().toISOString()}",${fields},"msg":"`;
      if (part.length <= BLOCK_CHARACTERS && isPlain(part) && Buffer.byteLength(head) <= HEAD_BYTES - TAIL.length)
        yield* this.#plain(part, head);
      else yield* escaped(part, head);
    }
  }

  *#plain(part: string, head: string): Generator<StampedLines> {
    this.#bytes ??= Buffer.allocUnsafeSlow(STAMPED_AT + STAMPED_BYTES);
    const bytes = this.#bytes;
    const glueEnd = GLUE_AT + bytes.write(`${TAIL}${head}`, GLUE_AT);
    bytes.write(part, 'latin1');
    let to = STAMPED_AT;
    let lines = 0;
    const stamped = (): StampedLines => {
      bytes.copyWithin(to, GLUE_AT, HEAD_AT);
      return { block: bytes.subarray(STAMPED_AT, to + TAIL.length), lines };
    };
    for (let at = 0, end = 0; at < part.length; at = end + 1) {
      end = part.indexOf('\n', at);
      if (end === at) continue;
      if (lines > 0 && to + (glueEnd - GLUE_AT) + (end - at) + TAIL.length > bytes.length) {
        yield stamped();
        to = STAMPED_AT;
        lines = 0;
      }
      const glue = lines === 0 ? HEAD_AT : GLUE_AT;
      bytes.copyWithin(to, glue, glueEnd);
      to += glueEnd - glue;
      bytes.copyWithin(to, at, end);
      to += end - at;
      lines += 1;
    }
    if (lines > 0) yield stamped();
  }
}

function* escaped(part: string, head: string): Generator<StampedLines> {
  const lines = part.split('\n').filter((line) => line !== '');
  const block = lines.map((line) => `${head}${escapeLine(JSON.stringify(line)).slice(1)}}\n`).join('');
  if (lines.length > 0) yield { block: Buffer.from(block), lines: lines.length };
}

/** Behind the last line feed that a block may hold; a longer line is a block of its own. */
function endOfBlock(text: string, from: number): number {
  const last = text.lastIndexOf('\n', from + BLOCK_CHARACTERS - 1);
  const feed = last >= from ? last : text.indexOf('\n', from);
  return feed === -1 ? text.length : feed + 1;
}
