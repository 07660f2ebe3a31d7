// The questions of `svc init` on a terminal. Loaded only for an interactive run.
import { cancel, confirm, intro, isCancel, text } from '@clack/prompts';
import { wrongName, wrongPort } from './answer-rules.ts';

export interface Asked {
  readonly name: string;
  readonly port: number;
  readonly sample: boolean;
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
  const sample = await confirm({ message: 'A sample plugin with its test?', initialValue: given.sample });
  if (isCancel(sample)) return stopped();
  return { name, port: Number(port), sample };
}

function stopped(): undefined {
  cancel('Nothing was written.');
  return undefined;
}
