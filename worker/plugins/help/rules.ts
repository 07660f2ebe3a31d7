// Texts of the help plugin, from the commands of a generation. Pure.
//
//   HELP-1  A command is found by its name or alias, in any case, with or without the prefix.
//   HELP-2  Commands restricted to admins or operators are marked.
//   HELP-3  If two plugins have a command of the same name, their slots tell them apart.
//   HELP-4  An unknown command is answered. A path (`/usr/bin`) is not, and operator commands are not suggested.
import type { CommandHelp } from '../../sdk/index.ts';
import { nearest } from '../../sdk/schema/nearest.ts';
import { commandIn } from '../../sdk/text/command-sign.ts';

const WHO = { anyone: '', admin: ' (admins)', operator: ' (operators)' } as const;

/** All commands, one a line, sorted by name. */
export function helpList(commands: readonly CommandHelp[]): string {
  if (commands.length === 0) return 'There are no commands here.';
  const twice = namesUsedTwice(commands);
  return [...commands]
    .sort((a, b) => compare(a.name, b.name) || compare(a.slot, b.slot))
    .map(
      (command) =>
        `${command.usage}  ${command.summary}${WHO[command.who]}${twice.has(command.name) ? ` [${command.slot}]` : ''}`,
    )
    .join('\n');
}

/** One command in full. For an unknown name, says so and suggests similar names. */
export function helpOne(commands: readonly CommandHelp[], wanted: string): string {
  const word = bare(wanted);
  const found = commands.filter(({ name, aliases }) =>
    [name, ...aliases].some((known) => known.toLowerCase() === word),
  );
  if (found.length === 0)
    return [`There is no command ${word === '' ? 'without a name' : word}.`, ...near(commands, word)].join(' ');
  return found.map((command) => describe(command)).join('\n\n');
}

/** Answer to an unknown command. Undefined if the line does not look like a command. */
export function unknownCommand(commands: readonly CommandHelp[], line: string): string | undefined {
  const prefix = prefixOf(commands);
  const word = prefix === undefined ? undefined : commandIn(line, prefix)?.name;
  if (word === undefined || !/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,31}$/u.test(word) || word === CANCEL) return undefined;
  const open = commands.filter(({ who }) => who !== 'operator').flatMap(({ name, aliases }) => [name, ...aliases]);
  const near = nearest(word, open);
  const next = near === undefined ? `${prefix}help lists those there are.` : `Did you mean ${prefix}${near}?`;
  return `There is no command ${prefix}${word}. ${next}`;
}

/** The host's own command, which ends an open question. Without such a question the command gets no answer. */
const CANCEL = 'cancel';

/** The prefix that stands before the name in the usage. All commands have the same. */
function prefixOf([first]: readonly CommandHelp[]): string | undefined {
  return first?.usage.slice(0, first.usage.indexOf(first.name));
}

function describe({ usage, summary, args, examples, aliases, who, slot }: CommandHelp): string {
  const described = args.map((arg) => `  ${arg.usage}: ${arg.description}`);
  const shown = examples.length === 0 ? [] : [`For example: ${examples.join(' | ')}`];
  const others = aliases.length === 0 ? [] : [`Also: ${aliases.join(', ')}`];
  return [usage, `${summary}${WHO[who]}`, ...described, ...shown, ...others, `From: ${slot}`].join('\n');
}

const bare = (wanted: string): string =>
  wanted
    .trim()
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .toLowerCase();
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

function namesUsedTwice(commands: readonly CommandHelp[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(commands.flatMap(({ name }) => (seen.has(name) ? [name] : (seen.add(name), []))));
}

function near(commands: readonly CommandHelp[], word: string): readonly string[] {
  const all = commands.flatMap(({ name, aliases }) => [name, ...aliases]);
  const alike = all.filter((name) => word.length > 1 && (name.startsWith(word.slice(0, 2)) || word.startsWith(name)));
  const names = alike.length > 0 || word.length < 2 ? alike : [nearest(word, all) ?? []].flat();
  return names.length === 0 ? [] : [`Did you mean ${names.slice(0, 3).join(', ')}?`];
}
