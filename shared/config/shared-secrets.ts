// The variable of a secret in a key that is no secret: its text would stand in the configuration that is shown, in names, in labels. Pure.
//
//   K1  What decides is the name of the variable, never its value: a secret that is an ordinary word is no reason to refuse anything.
//   K2  The host judges its own secrets when the file is read; those of plugins when their definitions are known.
import { dotted, type Finding } from './fault.ts';
import type { ResolvedReference } from './resolve.ts';

type References = ReadonlyMap<string, ResolvedReference>;

/** A finding for each reference outside `secretKeys` that takes a variable of one of them. */
export function sharedSecrets(references: References, secretKeys: ReadonlySet<string>): Finding[] {
  const owners = new Map<string, string>();
  for (const path of secretKeys)
    for (const name of references.get(path)?.names ?? []) if (!owners.has(name)) owners.set(name, path);
  return [...references].flatMap(([path, { names }]) => {
    const name = secretKeys.has(path) ? undefined : names.find((candidate) => owners.has(candidate));
    const owner = name === undefined ? undefined : owners.get(name);
    return name === undefined || owner === undefined ? [] : [{ path, message: messageOf(name, owner) }];
  });
}

/** The same, as long as nobody knows which keys of plugins are secrets: a whole reference there may be one, and has rules of its own. */
export const ownSharedSecrets = (references: References, secretKeys: ReadonlySet<string>): Finding[] =>
  sharedSecrets(references, secretKeys).filter(
    ({ path }) => !path.startsWith('/plugins/') || references.get(path)?.whole !== true,
  );

const messageOf = (name: string, owner: string): string =>
  `takes ${name}, which is the secret of ${dotted(owner)}, and is shown to others; give it a variable of its own`;
