// The variable of a secret in a key of the host that is no secret: its text would stand in names and labels, and in the configuration that is
// shown. Pure.
//
//   K1  What decides is the name of the variable, never its value: a secret that is an ordinary word is no reason to refuse anything.
//   K2  The host's own secrets are known when the file is read; those of plugins when their definitions are.
//   K3  Keys of plugins are left alone: what they take from a variable is shown as it is written.
import { dotted, type Finding } from '../fault.ts';
import type { ResolvedReference } from '../resolve.ts';

type References = ReadonlyMap<string, ResolvedReference>;

/** A finding for each reference of the host outside `secretKeys` that takes a variable of one of them. */
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
