// `svc doctor --fix`: applies the safe repairs of the findings, after they were listed and confirmed.
import type { CommandContext } from '../command.ts';
import type { Finding } from './check.ts';

export interface Repairable extends Finding {
  readonly id: string;
}

/** Returns the ids of the applied repairs. Nothing is applied without a yes, given at the terminal or by `--yes`. */
export async function repairAll(
  { print, interactive }: Pick<CommandContext, 'print' | 'interactive'>,
  findings: readonly Repairable[],
  yes: boolean,
): Promise<readonly string[]> {
  const wanted = findings.filter(({ repair }) => repair !== undefined);
  if (wanted.length === 0) {
    print.note('nothing here can be mended by --fix');
    return [];
  }
  for (const { id, fix } of wanted) print.note(`would mend ${id}: ${fix}`);
  if (!yes && !(interactive && (await agreed(wanted.length)))) {
    if (!interactive) print.note('nothing was changed: say so with --yes');
    return [];
  }
  return wanted.map(({ id, repair }) => {
    repair?.();
    print.note(print.color.good(`mended ${id}`));
    return id;
  });
}

async function agreed(count: number): Promise<boolean> {
  const { confirm } = await import('@clack/prompts');
  return (await confirm({ message: `Mend ${count === 1 ? 'it' : `all ${count}`}?`, initialValue: false })) === true;
}
