// The questions of `svc init` on a terminal. Loaded only when somebody is asked.
import { cancel, confirm, intro, isCancel, text } from '@clack/prompts';

export interface Asked {
  readonly name: string;
  readonly port: number;
  readonly sample: boolean;
}

/** The answers, with what was given as defaults; undefined when the person broke off. */
export async function askFor(given: Asked): Promise<Asked | undefined> {
  intro('A new svc project');
  const name = await text({ message: 'Name of the package?', initialValue: given.name, validate: (value) => (/^[a-z0-9][a-z0-9._-]{0,99}$/.test(value ?? '') ? undefined : "Small letters, digits, '.', '_' and '-'.") });
  if (isCancel(name)) return stopped();
  const port = await text({ message: 'Port of the HTTP interface?', initialValue: String(given.port), validate: (value) => (isPort(value ?? '') ? undefined : 'A whole number from 1 to 65535.') });
  if (isCancel(port)) return stopped();
  const sample = await confirm({ message: 'A sample plugin with its test?', initialValue: given.sample });
  if (isCancel(sample)) return stopped();
  return { name, port: Number(port), sample };
}

const isPort = (value: string): boolean => /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535;

function stopped(): undefined {
  cancel('Nothing was written.');
  return undefined;
}
