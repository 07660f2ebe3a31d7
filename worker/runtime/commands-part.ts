// The part `commands`: what the help plugin lists. Those of the generation that handles the item, not of whichever serves later.
import { usageOf } from '../handling/command-line.ts';
import type { Commands } from '../sdk/parts.ts';
import type { Generation } from './generation.ts';

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
