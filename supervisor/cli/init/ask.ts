// The questions of `svc init` on a terminal. Loaded only for an interactive run.
import { cancel, confirm, intro, isCancel, select, text } from '@clack/prompts';
import { wrongName, wrongPort } from './answer-rules.ts';
import { PLATFORMS, type Platform } from './platforms.ts';

export interface Asked {
  readonly name: string;
  readonly port: number;
  readonly sample: boolean;
  /** Undefined: not said yet. */
  readonly platforms: readonly Platform[] | undefined;
}

/** Asks with the given values as defaults. Undefined if the person cancelled. */
export async function askFor(given: Asked): Promise<Asked | undefined> {
  intro('A new svc project');
  const name = await text({
    message: 'Name of the package?',
    initialValue: given.name,
    validate: (value) => wrongName(value ?? ''),
  });
  if (isCancel(name)) return stopped();
  const port = await text({
    message: 'Port of the HTTP interface?',
    initialValue: String(given.port),
    validate: (value) => wrongPort(/^\d+$/.test(value ?? '') ? Number(value) : 0),
  });
  if (isCancel(port)) return stopped();
  const platforms = given.platforms ?? (await askForPlatform());
  if (platforms === undefined) return stopped();
  const sample = await confirm({ message: 'A sample plugin with its test?', initialValue: given.sample });
  if (isCancel(sample)) return stopped();
  return { name, port: Number(port), sample, platforms };
}

/** One, because each wants its token. Undefined if the person cancelled. */
async function askForPlatform(): Promise<readonly Platform[] | undefined> {
  const chosen = await select({
    message: 'Where do people talk to it?',
    options: [
      { value: '', label: 'None yet', hint: 'a chat page to try it' },
      ...PLATFORMS.map(({ name, title }) => ({ value: name, label: title })),
    ],
  });
  return isCancel(chosen) ? undefined : PLATFORMS.filter(({ name }) => name === chosen);
}

function stopped(): undefined {
  cancel('Nothing was written.');
  return undefined;
}
