// The part `commands`: what the help plugin lists. Those of the generation that handles the item, not of whichever serves later.
import { usageOf } from '../../handling/plan/command-line.ts';
import type { CommandInfo } from '../../sdk/adapter.ts';
import type { Commands } from '../../sdk/parts.ts';
import { t } from '../../sdk/schema/schema.ts';
import type { Generation } from './generation.ts';

/** For the menus of platforms: what is for operators alone is nobody else's to see. */
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
        slot: command.slot,
        who: command.spec.who ?? 'anyone',
      })),
  };
}
