// Output of commands: the result on stdout, everything else on stderr. Colours only on a terminal; a closed pipe causes no error.
// Text from platforms, plugins and people is escaped, so that none of it moves the cursor or hides other text.
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

/** NO_COLOR, TERM=dumb, CI and a stdout without a terminal turn colours off. */
export function createPrinter({ json, env, plain, stdout, stderr }: PrinterOptions): Printer {
  const off =
    plain ||
    json ||
    !stdout.isTTY ||
    (env['NO_COLOR'] ?? '') !== '' ||
    env['TERM'] === 'dumb' ||
    (env['CI'] ?? '') !== '';
  const { green, red, yellow, dim, bold } = pc.createColors(!off);
  // Saved now, because project code loaded later gets a replaced one.
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

/** A plain table, readable on any terminal and easy to split by tools. Columns are as wide as their widest cell. */
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
