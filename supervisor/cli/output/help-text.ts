// Text of --help, made from the table of commands and the command's own file.
import type { Command, CommandOption } from '../command.ts';
import { COMMANDS, loadCommand, nouns, verbsOf } from '../commands.ts';
import { sharedBeside, wordsOf } from '../program.ts';
import { unknownWord } from './usage-error.ts';

/** Help for the whole program, a noun, or noun and verb. Throws `usage` for unknown words. */
export async function helpText([noun, verb]: readonly string[]): Promise<string> {
  if (noun === undefined) return overview();
  const ofNoun = COMMANDS.filter((command) => command.noun === noun);
  if (ofNoun.length === 0) throw unknownWord('command', noun, [...nouns(), ...verbsOf('help')]);
  const one = ofNoun.find((command) => command.verb === verb);
  if (one !== undefined) return `${commandHelp(await loadCommand(one))}${verb === undefined ? moreOf(noun) : ''}`;
  if (verb !== undefined) throw unknownWord(`command after svc ${noun}:`, verb, verbsOf(noun));
  return `${list(
    `svc ${noun}`,
    ofNoun.map((command) => [command.verb ?? '', command.summary]),
  )}\nsvc ${noun} <command> --help says more.\n`;
}

/** Commands below one that is also a command by itself. */
function moreOf(noun: string): string {
  const more = COMMANDS.filter((command) => command.noun === noun && command.verb !== undefined);
  if (more.length === 0) return '';
  const rows = more.map(({ verb = '', summary }): [string, string] => [verb, summary]);
  return `\n${list(`svc ${noun}`, rows)}`;
}

/** The same help as data. Throws `usage`. */
export async function helpDocument(words: readonly string[]): Promise<unknown> {
  const [noun, verb] = words;
  const one = COMMANDS.find((command) => command.noun === noun && command.verb === verb);
  if (one === undefined) {
    await helpText(words); // throws the error for unknown words
    const listed = COMMANDS.filter((command) => noun === undefined || command.noun === noun);
    return { commands: listed.map((command) => ({ command: wordsOf(command), summary: command.summary })) };
  }
  const command = await loadCommand(one);
  const { summary, args, examples } = command;
  return { command: wordsOf(one), summary, args: args ?? null, options: optionsOf(command), examples };
}

function overview(): string {
  const rows = COMMANDS.filter(({ noun }) => noun !== 'help').map((command): [string, string] => [
    wordsOf(command),
    command.summary,
  ]);
  return `The host for chat bots that must not go down, lose a message or lose their history.\n\n${list('svc', rows)}
svc <command> --help       options and examples
svc help exit-codes        what the exit codes mean
svc help environment       the variables that svc reads
svc help guides            the guides for operators, authors and clients, as files
svc help completions bash  completions; also zsh, fish
svc --version [--json]
`;
}

function commandHelp(command: Command): string {
  const usage = `svc ${wordsOf(command)}${command.args === undefined ? '' : ` ${command.args}`} [options]`;
  return `${command.summary}\n\nUsage\n  ${usage}\n\n${list('Options', optionsOf(command).map(optionRow))}\nExamples\n${command.examples.map((example) => `  ${example}\n`).join('')}`;
}

const optionsOf = ({ options: own = [] }: Command): readonly CommandOption[] => [...own, ...sharedBeside(own)];

function optionRow({ flags, description, default: value }: CommandOption): [string, string] {
  const long = flags.startsWith('--') ? `    ${flags}` : flags;
  return [long, value === undefined ? description : `${description} (default: ${value})`];
}

function list(head: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return `${head}\n${rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}\n`).join('')}`;
}
