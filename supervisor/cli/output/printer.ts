// What commands print: the result on stdout, everything else on stderr. Colours only where somebody sees them; a closed pipe is quiet. Whatever
// text it is made of (of platforms, of plugins, of people): nothing in it moves the cursor or hides what stands beside it.
import pc from 'picocolors';
import type { Printer } from '../command.ts';
import { printable, printableJson, printableLine } from './printable.ts';

export interface PrinterOptions {
  readonly json: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--no-color`. */
  readonly plain: boolean;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** NO_COLOR, TERM=dumb, CI and a stdout that is no terminal turn colours off. */
export function createPrinter({ json, env, plain, stdout, stderr }: PrinterOptions): Printer {
  const off =
    plain ||
    json ||
    !stdout.isTTY ||
    (env['NO_COLOR'] ?? '') !== '' ||
    env['TERM'] === 'dumb' ||
    (env['CI'] ?? '') !== '';
  const { green, red, yellow, dim, bold } = pc.createColors(!off);
  // As it is now: code of the project, which a command may load, is given another one.
  const write = stdout.write.bind(stdout);
  const seen = off ? printable : printableLine;
  const put = (text: string): void => void write(`${text}\n`);
  const out = (text: string): void => put(seen(text));
  return {
    text: (line) => (json ? undefined : out(line)),
    json: (document) => (json ? put(printableJson(JSON.stringify(document, null, 2))) : undefined),
    line: (document) => put(printableJson(JSON.stringify(document))),
    table: (head, rows) => (json ? undefined : out(tableText(head.map(bold), rows))),
    note: (line) => void stderr.write(`${seen(line)}\n`),
    color: { good: green, bad: red, warn: yellow, dim, bold },
  };
}

const GAP = '  ';

/** Columns as wide as their widest cell; plain, so that it can be read over any terminal and cut by any tool. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ''))));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape of a colour
const COLOR = /\u001b\[\d+m/g;
const widthOf = (cell: string): number => Array.from(cell.replace(COLOR, '')).length;
