// What a command of the CLI gets, with its output kept: for running a command's function in a test.
import type { Command, CommandContext } from '../../../supervisor/cli/command.ts';
import { parseCommand } from '../../../supervisor/cli/program.ts';

// A command that loads code of the project takes stdout and stderr for the rest of its process. In a test the runner reads stdout: what was taken
// would be results that nobody counts.
for (const stream of [process.stdout, process.stderr]) {
  const { write } = stream;
  Object.defineProperty(stream, 'write', { configurable: true, get: () => write, set: () => {} });
}

export interface Output {
  readonly texts: string[];
  readonly notes: string[];
  readonly documents: unknown[];
}

export interface ContextOptions {
  readonly cwd: string;
  readonly json?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A context without terminal and without a running host; the project is the working folder. */
export function commandContext({ cwd, json = false, env = {} }: ContextOptions): {
  readonly context: CommandContext;
  readonly output: Output;
} {
  const output: Output = { texts: [], notes: [], documents: [] };
  const same = (text: string): string => text;
  const context: CommandContext = {
    json,
    env,
    cwd,
    interactive: false,
    signal: new AbortController().signal,
    project: () => cwd,
    host: () => Promise.reject(new Error('no host here')),
    end: (error) => {
      throw error;
    },
    print: {
      text: (line) => void (json || output.texts.push(line)),
      json: (document) => void (json && output.documents.push(document)),
      line: (document) => void output.documents.push(document),
      table: (head, rows) => void (json || output.texts.push(head.join(' '), ...rows.map((row) => row.join(' ')))),
      note: (line) => void output.notes.push(line),
      color: { good: same, bad: same, warn: same, dim: same, bold: same },
    },
  };
  return { context, output };
}

/** Runs a command here, with --json: its code, and what it prints as a document. */
export async function runCommand(
  command: Command,
  words: readonly string[],
  options: Omit<ContextOptions, 'json'>,
): Promise<{ readonly code: number; readonly document: unknown }> {
  const { context, output } = commandContext({ ...options, json: true });
  const { args, options: parsed } = parseCommand(command, words);
  const code = await command.run(context, args, parsed);
  return { code, document: output.documents.at(-1) };
}
