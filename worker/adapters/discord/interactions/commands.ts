// Announces the host's commands as slash commands of Discord.
//
//   DISCORD-COMMANDS-1  Arguments of a kind that Discord supports become options, required ones first. Any other command gets a single option for its
//                       whole line, parsed as on other platforms. That holds for unsupported kinds or names, and for too many arguments.
//   DISCORD-COMMANDS-2  One call replaces all commands, and changes nothing if they are equal. Commands are available in servers and in private with
//                       the bot.
//   DISCORD-COMMANDS-3  Discord refuses all commands if it refuses one. Number limits are therefore clamped to its range, and choices dropped if they
//                       do not fit.

import type { CommandInfo, Link } from '../../../sdk/index.ts';
import { asObject, countAt, type Json, listAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { isOptional } from '../../../sdk/schema/optional.ts';
import { need } from '../client.ts';
import type { Account } from '../config.ts';

export const LINE_OPTION = 'arguments';

const NAME = /^[-_'\p{L}\p{N}]{1,32}$/u;
const MOST_COMMANDS = 100;
const MOST_OPTIONS = 25;
const MOST_CHOICES = 25;
/** Discord's limit on names, descriptions and values of one command in total. A command without choices never reaches it. */
const MOST_CHARACTERS = 8_000;
/** Most UTF-16 units of the name and description of one command. */
const MOST_OF_ITSELF = 232;
const CHAT_INPUT = 1;
const USER = 6;
const KINDS: Readonly<Record<string, number>> = { string: 3, integer: 4, boolean: 5, number: 10 };

/** The commands last announced, to announce them again when the address is registered. */
const announced = new WeakMap<Account, readonly Json[]>();

export async function announce(
  commands: readonly CommandInfo[],
  link: Pick<Link<Account>, 'account' | 'log'>,
): Promise<void> {
  const shown = commands.filter(({ name }) => isName(name)).slice(0, MOST_COMMANDS);
  const left = commands.filter((command) => !shown.includes(command)).map(({ name }) => name);
  if (left.length > 0)
    link.log.warn({ commands: left }, 'Discord does not take these names, or so many: they can be typed');
  const list = shown.map(commandOf);
  announced.set(link.account, list);
  await tell(list, link);
}

/** Resolves to the number of commands, or undefined if none were announced yet. */
export async function announceAgain(link: Pick<Link<Account>, 'account'>): Promise<number | undefined> {
  const list = announced.get(link.account);
  if (list !== undefined) await tell(list, link);
  return list?.length;
}

const tell = (list: readonly Json[], link: Pick<Link<Account>, 'account'>): Promise<unknown> =>
  need(link, { method: 'PUT', path: `/applications/${link.account.applicationId}/commands`, body: list });

const isName = (name: string): boolean => NAME.test(name) && name === name.toLowerCase();
const described = (text: string, name: string): string =>
  Array.from(text.trim() || name)
    .slice(0, 100)
    .join('');

function commandOf({ name, summary, args }: CommandInfo): Json {
  const properties = Object.entries(args.properties);
  const options = properties.map(([key, schema]) => optionOf(key, schema));
  const isByName = options.length <= MOST_OPTIONS && options.every((option) => option !== undefined);
  const needed = [...options].sort((a, b) => Number(b?.['required'] ?? false) - Number(a?.['required'] ?? false));
  return {
    name,
    type: CHAT_INPUT,
    description: described(summary, name),
    options: isByName ? shortened(needed) : [lineOption(properties)],
    contexts: [0, 1],
    integration_types: [0],
  };
}

/** Drops the longest lists of choices first until the command fits. The command itself still checks typed values. */
function shortened(options: readonly (Json | undefined)[]): readonly (Json | undefined)[] {
  const lengths = options.map(choicesLength);
  const most = Math.max(0, ...lengths);
  const own = options.map((one) => `${textAt(one ?? {}, 'name')}${textAt(one ?? {}, 'description')}`.length);
  const length = [...lengths, ...own].reduce((sum, one) => sum + one, MOST_OF_ITSELF);
  if (length <= MOST_CHARACTERS || most === 0) return options;
  const longest = lengths.indexOf(most);
  return shortened(options.map((one, at) => (at === longest ? { ...one, choices: undefined } : one)));
}

const choicesLength = (option: Json | undefined): number =>
  listAt(option ?? {}, 'choices').reduce((sum, { name, value }) => sum + `${name}${value}`.length, 0);

/** The single option for a command whose arguments Discord does not support. */
function lineOption(properties: readonly (readonly [string, object])[]): Json {
  const description = described(properties.map(([key]) => key).join(', '), LINE_OPTION);
  return { type: 3, name: LINE_OPTION, description, required: properties.some(([, schema]) => !isOptional(schema)) };
}

/** Undefined if Discord has no such kind of option. */
function optionOf(name: string, schema: object): Json | undefined {
  const of = asObject(schema);
  const { type, format, enum: values } = of;
  if (!isName(name) || name === LINE_OPTION) return undefined;
  const description = described(textAt(of, 'title') ?? textAt(of, 'description') ?? '', name);
  const base = { name, description, required: !isOptional(schema) };
  if (Array.isArray(values)) {
    const isShort =
      values.length <= MOST_CHOICES &&
      values.every((value) => typeof value === 'string' && value.length <= 100 && value !== '');
    return isShort ? { ...base, type: 3, choices: values.map((value) => ({ name: value, value })) } : undefined;
  }
  if (format === 'svc-duration')
    return { ...base, type: 3, description: described(`${description} (10m, 1h30m, 2d)`, name) };
  if (format === 'svc-when')
    return { ...base, type: 3, description: described(`${description} (10m, tomorrow at 9)`, name) };
  if (format === 'svc-user') return { ...base, type: USER };
  if (typeof type !== 'string' || (format !== undefined && format !== 'svc-rest')) return undefined;
  const kind = KINDS[type];
  return kind === undefined ? undefined : { ...base, type: kind, ...limitsOf(of) };
}

function limitsOf(schema: Json): Json {
  const [least, most] = [schema['minimum'], schema['maximum']];
  const isWhole = schema['type'] === 'integer';
  const [shortest, longest] = [countAt(schema, 'minLength'), countAt(schema, 'maxLength')];
  return {
    ...(typeof least === 'number' ? { min_value: inRange(isWhole ? Math.ceil(least) : least) } : {}),
    ...(typeof most === 'number' ? { max_value: inRange(isWhole ? Math.floor(most) : most) } : {}),
    ...(shortest === undefined ? {} : { min_length: Math.min(shortest, 6_000) }),
    ...(longest === undefined ? {} : { max_length: Math.min(Math.max(1, longest), 6_000) }),
  };
}

/** Discord refuses numbers outside this range, and all commands with them. */
const inRange = (value: number): number => Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
