// Parses one command, with strict checks of options, values and extra words. cac cannot match two words, so each noun has its own instance.
//
// Every fault is a SvcError `usage`: exit code 2 with one line and the nearest valid option.
import { cac } from 'cac';
import { SvcError } from '../../shared/svc-error.ts';
import type { Command, CommandOption } from './command.ts';
import { unknownWord } from './output/usage-error.ts';

export const SHARED_OPTIONS: readonly CommandOption[] = [
  { flags: '--json', description: 'One JSON document on stdout' },
  { flags: '--project <dir>', description: 'The project (default: the nearest parent folder with svc.config.yml)' },
  { flags: '--no-color', description: 'No colours' },
  { flags: '--debug', description: 'Stacks of errors' },
  { flags: '-h, --help', description: 'Help for this command' },
];

/** Shared options, except those that the command describes itself. */
export const sharedBeside = (own: readonly CommandOption[]): readonly CommandOption[] =>
  SHARED_OPTIONS.filter(({ flags }) => !own.some((option) => option.flags === flags));

export interface ParsedCommand {
  readonly args: readonly (string | readonly string[] | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** Parses the arguments after noun and verb. Throws `usage`. */
export function parseCommand(command: Command, argv: readonly string[]): ParsedCommand {
  const word = command.verb ?? command.noun;
  const own = command.options ?? [];
  const known = [...sharedBeside(own), ...own];
  const names = known.flatMap(({ flags }) => namesOf(flags));
  checkNames(argv, names);
  const program = cac(`svc ${command.noun}`);
  const parsed: { args: ParsedCommand['args'] } = { args: [] };
  const definition = program
    .command(`${word}${command.args === undefined ? '' : ` ${command.args}`}`)
    .action((...values: unknown[]) => {
      parsed.args = values.slice(0, -1) as ParsedCommand['args'];
    });
  for (const { flags, description, ...rest } of known)
    definition.option(flags, description, rest.default === undefined ? {} : { default: rest.default });
  try {
    program.parse(['node', 'svc', word, ...marked(argv, known)], { run: false });
    program.runMatchedCommand();
  } catch (error) {
    throw new SvcError('usage', plain(error, command), { cause: error, hint: `svc ${wordsOf(command)} --help` });
  }
  const options: Record<string, unknown> = Object.fromEntries(
    Object.entries(program.options).map(([name, value]) => [name, unmarked(value)]),
  );
  // cac treats a missing `--no-x` as a given `--x`. If both exist, a command must know that neither was given.
  for (const name of names.filter((flag) => flag.startsWith('--no-')).map((flag) => flag.slice(5))) {
    const [yes, no] = [saysOption(argv, `--${name}`), saysOption(argv, `--no-${name}`)];
    if (yes && no)
      throw new SvcError('usage', `--${name} and --no-${name} exclude each other`, {
        hint: `svc ${wordsOf(command)} --help`,
      });
    if (names.includes(`--${name}`) && !yes && !no) delete options[name];
  }
  for (const [name, value] of Object.entries(options)) {
    if (Array.isArray(value) && name !== '--' && optionOf(known, name)?.isRepeated !== true)
      throw new SvcError('usage', `--${name} is given more than once`);
    if ([value].flat().includes('')) throw withoutValue(command, flagsOf(known, name));
  }
  return { args: parsed.args.map(unmarked) as ParsedCommand['args'], options };
}

/** Prefix for each value, because cac converts `007` to a number and empty text to 0. A process argument cannot contain it. */
const MARK = '\0';

function marked(argv: readonly string[], known: readonly CommandOption[]): string[] {
  const valued = known.filter(({ flags }) => flags.includes('<')).flatMap(({ flags }) => namesOf(flags));
  const end = argv.indexOf('--'); // the words after it are positional, but cac would put them aside
  return argv.flatMap((word, at) => {
    if (end !== -1 && at >= end) return at === end ? [] : [`${MARK}${word}`];
    if (!word.startsWith('-') || word === '-') return [`${MARK}${word}`];
    const [, name = word, value] = /^(-[a-z](?=\d)|--?[^=]+=)(.+)$/is.exec(word) ?? [];
    if (value === undefined || !valued.includes(name.replace(/=$/, ''))) return [word];
    return name.endsWith('=') ? [`${name}${MARK}${value}`] : [name, `${MARK}${value}`];
  });
}

function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked);
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value;
}

const optionOf = (known: readonly CommandOption[], name: string): CommandOption | undefined =>
  known.find(({ flags }) => namesOf(flags).some((flag) => flag.replace(/^--?/, '') === name));

const flagsOf = (known: readonly CommandOption[], name: string): string => optionOf(known, name)?.flags ?? name;

/** An empty value comes from an unset variable: `--project ""` does not mean the current folder. */
const withoutValue = (command: Command, flags: string): SvcError =>
  new SvcError('usage', `${flags} needs a value`, { hint: `svc ${wordsOf(command)} --help` });

function saysOption(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => word === flag || word.startsWith(`${flag}=`));
}

export const wordsOf = ({ noun, verb }: Pick<Command, 'noun' | 'verb'>): string =>
  verb === undefined ? noun : `${noun} ${verb}`;

/** `-n, --lines <n>` → `-n`, `--lines`. For `--no-watch`, `--watch` is an option of the same name. */
export const namesOf = (flags: string): string[] => flags.split(',').map((part) => part.trim().split(/[ =]/)[0] ?? '');

const SECRETS = new Set(['--token', '--password', '--secret', '--api-key']);

/** Checks names before cac does, which reports `--some-thing` as `--someThing` and accepts abbreviations of one letter. */
function checkNames(argv: readonly string[], names: readonly string[]): void {
  for (const word of argv) {
    if (word === '--') return;
    if (!word.startsWith('-') || word === '-' || /^-\d/.test(word)) continue;
    const name = word.split('=')[0] ?? word;
    if (names.includes(name)) continue;
    if (SECRETS.has(name))
      throw new SvcError(
        'usage',
        `${name} is not taken: an argument can be read by every process; use the environment`,
        { hint: 'svc help environment' },
      );
    // `-n5` has its value attached, and `marked` splits it
    if (/^-[a-z]\d+$/i.test(name) && names.includes(name.slice(0, 2))) continue;
    throw unknownWord('option', name, names);
  }
}

function plain(error: unknown, command: Command): string {
  const text = (error instanceof Error ? error.message : String(error)).replaceAll(MARK, '');
  const missing = /option `(.+?)` value is missing/.exec(text)?.[1];
  if (missing !== undefined) return `${missing} needs a value`;
  const stray = /Unused args: (.+)/.exec(text)?.[1];
  if (stray !== undefined) return `unexpected ${stray.replaceAll('`', "'")} after 'svc ${wordsOf(command)}'`;
  if (text.startsWith('missing required args')) return `svc ${wordsOf(command)} needs ${command.args ?? 'an argument'}`;
  return text;
}
