// Texts of the help plugin, from the commands of a generation. Pure.
//
//   HELP-1  A command is found by its name or alias, in any case, with or without the prefix.
//   HELP-2  Commands restricted to admins or operators are marked.
//   HELP-3  If two plugins have a command of the same name, their slots tell them apart.
//   HELP-4  An unknown command is answered. A path (`/usr/bin`) is not, and operator commands are not suggested.
import type { CommandHelp } from '../../sdk/index.ts';
import { nearest } from '../../sdk/schema/nearest.ts';
import { helpTexts } from '../../sdk/text/chat-texts.ts';
import { commandIn, isCancel } from '../../sdk/text/command-sign.ts';

const whoIn = (texts: HelpTexts) => ({ anyone: '', admin: texts.admins, operator: texts.operators }) as const;

type HelpTexts = ReturnType<typeof helpTexts>;
const ENGLISH: HelpTexts = helpTexts('en');

/** All commands, one a line, sorted by name. */
export function helpList(commands: readonly CommandHelp[], texts = ENGLISH): string {
  if (commands.length === 0) return texts.none;
  const who = whoIn(texts);
  const twice = namesUsedTwice(commands);
  return [...commands]
    .sort((a, b) => compare(a.name, b.name) || compare(a.slot, b.slot))
    .map(
      (command) =>
        `${command.usage}  ${command.summary}${who[command.who]}${twice.has(command.name) ? ` [${command.slot}]` : ''}`,
    )
    .join('\n');
}

/** One command in full. For an unknown name, says so and suggests similar names. */
export function helpOne(commands: readonly CommandHelp[], wanted: string, texts = ENGLISH): string {
  const word = bare(wanted);
  const found = commands.filter(({ name, aliases }) =>
    [name, ...aliases].some((known) => known.toLowerCase() === word),
  );
  if (found.length === 0)
    return [word === '' ? texts.nameless : texts.unknown(word), ...near(commands, word, texts)].join(' ');
  return found.map((command) => describe(command, texts)).join('\n\n');
}

/** Answer to an unknown command. Undefined if the line does not look like a command. */
export function unknownCommand(commands: readonly CommandHelp[], line: string, texts = ENGLISH): string | undefined {
  const prefix = prefixOf(commands);
  const word = prefix === undefined ? undefined : commandIn(line, prefix)?.name;
  // The host's own cancel gets no answer where no question is open.
  if (word === undefined || !/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,31}$/u.test(word) || isCancel(word)) return undefined;
  const open = commands.filter(({ who }) => who !== 'operator').flatMap(({ name, aliases }) => [name, ...aliases]);
  const near = nearest(word, open);
  const next = near === undefined ? texts.listed(`${prefix}help`) : texts.didYouMean(`${prefix}${near}`);
  return `${texts.unknown(`${prefix}${word}`)} ${next}`;
}

/** The prefix that stands before the name in the usage. All commands have the same. */
function prefixOf([first]: readonly CommandHelp[]): string | undefined {
  return first?.usage.slice(0, first.usage.indexOf(first.name));
}

function describe({ usage, summary, args, examples, aliases, who, slot }: CommandHelp, texts: HelpTexts): string {
  const described = args.map((arg) => `  ${texts.argument(arg.usage, arg.description)}`);
  const shown = examples.length === 0 ? [] : [texts.examples(examples.join(' | '))];
  const others = aliases.length === 0 ? [] : [texts.also(aliases.join(', '))];
  return [usage, `${summary}${whoIn(texts)[who]}`, ...described, ...shown, ...others, texts.from(slot)].join('\n');
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

function near(commands: readonly CommandHelp[], word: string, texts: HelpTexts): readonly string[] {
  const all = commands.flatMap(({ name, aliases }) => [name, ...aliases]);
  const alike = all.filter((name) => word.length > 1 && (name.startsWith(word.slice(0, 2)) || word.startsWith(name)));
  const names = alike.length > 0 || word.length < 2 ? alike : [nearest(word, all) ?? []].flat();
  return names.length === 0 ? [] : [texts.didYouMean(names.slice(0, 3).join(', '))];
}
