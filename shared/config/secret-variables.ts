// Which variables of the environment hold a secret of the configuration. Pure.
//
//   V1  A variable is secret if a key that its schema marks as secret takes it, or if its own name looks like one of a secret.
//   V2  Until the schema of a plugin is known, any variable may be secret that stands alone at one of its keys, as a secret has to.
import type { ResolvedReference } from './resolve.ts';
import { looksSecret } from './resolve.ts';

export interface SecretVariables {
  readonly secret: ReadonlySet<string>;
  /** Taken by keys whose schema is not known (V2). */
  readonly unjudged: ReadonlySet<string>;
}

export interface KnownSecrets {
  /** Paths of secret keys, of the host and of the plugins whose schema is known. */
  readonly secretKeys: ReadonlySet<string>;
  /** Slots whose schema is known. */
  readonly slots: ReadonlySet<string>;
}

const ALONE = /^\$\{\w+\}$/;
/** No program runs well without these, and none of them is a secret. */
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
