// Which secrets have another value than at the time of a checkpoint. The checkpoint holds keyed digests alone, and the key is in no checkpoint.
import { existsSync } from 'node:fs';
import { loadConfig } from '../../../shared/config/load.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { knownSecrets, printOf } from '../../../shared/recovery/known-secrets.ts';
import type { Manifest } from '../../../shared/recovery/manifest.ts';
import { linkKeyIn } from '../../files/file-links.ts';

/** Undefined where nobody can tell: without the key, or with a configuration that has faults. */
export function changedSecrets(
  project: string,
  environment: Readonly<Record<string, string | undefined>>,
  { secrets }: Pick<Manifest, 'secrets'>,
): readonly string[] | undefined {
  const { linkKey } = projectPaths(project);
  if (!existsSync(linkKey)) return undefined;
  try {
    const { named } = knownSecrets(loadConfig({ project, mode: 'development', environment, servesNothing: true }));
    const key = linkKeyIn(linkKey);
    const prints = new Map(named.map((secret) => [secret.name, printOf(key, secret)]));
    return secrets.filter(({ name, print }) => prints.get(name) !== print).map(({ name }) => name);
  } catch {
    return undefined; // the configuration has a fault, which a start reports
  }
}
