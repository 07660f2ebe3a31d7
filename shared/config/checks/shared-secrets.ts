// Finds a secret's variable in a host key that is not secret. Its value would appear in names, labels and the shown configuration. Pure.
//
//   SHARED-SECRETS-1  The variable's name decides, never its value. A secret that is an ordinary word causes no refusal.
//   SHARED-SECRETS-2  The host's own secrets are known when the file is read, those of plugins once their definitions are loaded.
//   SHARED-SECRETS-3  Keys of plugins are not checked, because a value from a variable is shown there as its reference.
import { dotted, type Finding } from '../fault.ts';
import type { ResolvedReference } from '../resolve.ts';

type References = ReadonlyMap<string, ResolvedReference>;

/** A finding for each host key outside `secretKeys` that uses a variable of one of them. */
export function sharedSecrets(references: References, secretKeys: ReadonlySet<string>): Finding[] {
  const owners = new Map<string, string>();
  for (const path of secretKeys)
    for (const name of references.get(path)?.names ?? []) if (!owners.has(name)) owners.set(name, path);
  return [...references].flatMap(([path, { names }]) => {
    const isTold = !secretKeys.has(path) && !path.startsWith('/plugins/');
    const name = isTold ? names.find((candidate) => owners.has(candidate)) : undefined;
    const owner = name === undefined ? undefined : owners.get(name);
    return name === undefined || owner === undefined ? [] : [{ path, message: messageOf(name, owner) }];
  });
}

const messageOf = (name: string, owner: string): string =>
  `takes ${name}, which is the secret of ${dotted(owner)}, and is shown to others; give it a variable of its own`;
