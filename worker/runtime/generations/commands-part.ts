// The part `commands`, used by the help plugin. Lists the commands of the generation that handles the item, even if another one serves by
// then.
import { usageOf } from '../../handling/plan/command-line.ts';
import type { CommandInfo } from '../../sdk/adapter.ts';
import type { Commands } from '../../sdk/parts.ts';
import { t } from '../../sdk/schema/schema.ts';
import { describedArguments } from '../../sdk/text/command-usage.ts';
import type { Generation } from './generation.ts';

/** Commands for the menus of platforms. Commands for operators are left out. */
export const commandInfos = (generation: Generation | undefined): readonly CommandInfo[] =>
  (generation?.capabilities.ofKind('command') ?? [])
    .filter(({ spec }) => spec.who !== 'operator')
    .map(({ name, spec }) => ({ name, summary: spec.summary, args: t.object(spec.args ?? {}) }));

export function commandsPart(generation: Generation): Commands {
  return {
    list: () =>
      generation.capabilities.ofKind('command').map((command) => ({
        name: command.name,
        aliases: command.spec.aliases ?? [],
        summary: command.spec.summary,
        usage: usageOf(command, generation.commands.prefix),
        args: describedArguments(command.spec.args ?? {}),
        examples: (command.spec.examples ?? []).map((line) => line.replace(/^\//, () => generation.commands.prefix)),
        slot: command.slot,
        who: command.spec.who ?? 'anyone',
      })),
  };
}
