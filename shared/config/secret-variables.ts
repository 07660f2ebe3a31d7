// Decides which environment variables hold a secret of the configuration. Pure.
//
//   SECRET-VARIABLES-1  A variable is secret if a secret key of a schema refers to it, or if its own name looks secret.
//   SECRET-VARIABLES-2  Before a plugin's schema is known, a variable that alone forms a key's value may be secret.
import type { ResolvedReference } from './resolve.ts';
import { looksSecret } from './resolve.ts';

export interface SecretVariables {
  readonly secret: ReadonlySet<string>;
  /** Variables referred to by keys whose schema is not known yet. */
  readonly unjudged: ReadonlySet<string>;
}

export interface KnownSecrets {
  /** Paths of secret keys of the host and of plugins with a known schema. */
  readonly secretKeys: ReadonlySet<string>;
  /** Slots with a known schema. */
  readonly slots: ReadonlySet<string>;
}

const ALONE = /^\$\{\w+\}$/;
/** Most programs need these variables, and none of them is a secret. */
const OF_THE_SYSTEM = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];

export function secretVariables(
  references: ReadonlyMap<string, ResolvedReference>,
  { secretKeys, slots }: KnownSecrets,
): SecretVariables {
  const secret = new Set<string>();
  const unjudged = new Set<string>();
  for (const [path, { names, text }] of references) {
    const isSecret = secretKeys.has(path);
    for (const name of names) if (isSecret || looksSecret(name)) secret.add(name);
    const [, group, slot = ''] = path.split('/');
    const mayBeSecret = group === 'plugins' && !slots.has(slot) && ALONE.test(text);
    if (mayBeSecret) for (const name of names) unjudged.add(name);
  }
  for (const name of OF_THE_SYSTEM) unjudged.delete(name);
  return { secret, unjudged };
}
