// Turns text that a plugin or package printed into log lines, many for each write.
// The lines are built in one reused buffer: as strings, 200 MB of output would grow the heap by about 12 MB.
import { escapeLine, isAscii } from './redaction.ts';

export interface TextStamp {
  readonly level: 'info' | 'warn';
  /** Origin of the text: stdout or stderr. */
  readonly source: string;
}

export interface StampedLines {
  /** Bytes to write at once. Valid until the next block is requested. */
  readonly block: Buffer;
  readonly lines: number;
}

const BLOCK_CHARACTERS = 64 * 1024;
const HEAD_BYTES = 4 * 1024;
const STAMPED_BYTES = 192 * 1024;
/** End of a log line. */
const TAIL = '"}\n';
/** Layout of the buffer: the input block, the end of a line with the head of the next, the finished lines. */
const GLUE_AT = BLOCK_CHARACTERS;
const HEAD_AT = GLUE_AT + TAIL.length;
const STAMPED_AT = GLUE_AT + HEAD_BYTES;

/** ASCII characters that must be escaped in a line, except its line feed. Each is searched for with `indexOf`, which is fast. */
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

  /** Yields blocks of whole lines. Empty lines are skipped. The text must end with a line feed. */
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

/** End of the block: after the last line feed within its size. A longer line is a block of its own. */
function endOfBlock(text: string, from: number): number {
  const last = text.lastIndexOf('\n', from + BLOCK_CHARACTERS - 1);
  const feed = last >= from ? last : text.indexOf('\n', from);
  return feed === -1 ? text.length : feed + 1;
}
