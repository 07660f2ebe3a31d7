// Text that something has printed (a plugin, a package) as lines of the log: each line stamped, many of them in one write.
import { escapeLine, isAscii } from './redaction.ts';

export interface TextStamp {
  readonly level: 'info' | 'warn';
  /** Where it was printed: stdout or stderr. */
  readonly source: string;
  readonly base: Readonly<Record<string, string | number>>;
}

export interface StampedLines {
  /** What is written at once. */
  readonly block: string;
  readonly lines: readonly string[];
}

const BLOCK_CHARACTERS = 64 * 1024;
/** What is escaped in a line, besides what is not ASCII; the line feed ends it. Looked for one by one, each at the speed of memory. */
const NOT_PLAIN = [
  '"',
  '\\',
  '\u007f',
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((character) => character !== '\n'),
];

const isPlain = (text: string): boolean => isAscii(text) && !NOT_PLAIN.some((character) => text.includes(character));

/** Blocks of whole lines; empty lines are left out. */
export function* stampLines(text: string, { level, source, base }: TextStamp): Generator<StampedLines> {
  const fields = JSON.stringify({ ...base, source }).slice(1, -1);
  for (let from = 0; from < text.length; ) {
    const end = endOfBlock(text, from);
    const part = text.slice(from, end);
    from = end;
    const head = `{"level":"${level}","time":"${new Date().toISOString()}",${fields},"msg":"`;
    const block =
      !isPlain(part) || part.startsWith('\n') || part.includes('\n\n')
        ? escaped(part, head)
        : `${head}${part.slice(0, -1).replaceAll('\n', `"}\n${head}`)}"}\n`;
    if (block !== '') yield { block, lines: block.slice(0, -1).split('\n') };
  }
}

const escaped = (part: string, head: string): string =>
  part
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${head}${escapeLine(JSON.stringify(line)).slice(1)}}\n`)
    .join('');

/** Behind the last line feed that a block may hold; a longer line is a block of its own. */
function endOfBlock(text: string, from: number): number {
  const last = text.lastIndexOf('\n', from + BLOCK_CHARACTERS - 1);
  const feed = last >= from ? last : text.indexOf('\n', from);
  return feed === -1 ? text.length : feed + 1;
}
