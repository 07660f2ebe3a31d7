// The secrets of a project: what no part of a checkpoint may hold, and what a restore compares.
import { createHmac } from 'node:crypto';
import type { LoadedConfig } from '../config/load.ts';
import { looksSecret } from '../config/resolve.ts';
import { secretVariables } from '../config/secret-variables.ts';
import { SecretRegistry } from '../log/redaction.ts';

/** A shorter value is a word that stands in code by chance. It would refuse every checkpoint. */
export const SHORTEST_SOUGHT = 8;

export interface KnownSecrets {
  /** Values, for the search. */
  readonly values: readonly string[];
  /** By variable. */
  readonly named: readonly { readonly name: string; readonly value: string }[];
}

/**
 * Secrets of the configuration, and variables whose name looks like one. Those of the process that the configuration does not name are other
 * programs' as well, so they are sought without a name. `more`: values that only the running host knows.
 */
export function knownSecrets(loaded: LoadedConfig, more: Iterable<string> = []): KnownSecrets {
  const { environment, origin, references, secretKeys, secrets } = loaded;
  const { secret } = secretVariables(references, { secretKeys, slots: new Set() });
  const lookSecret = Object.keys(environment).filter(looksSecret);
  const ofFile = lookSecret.filter((name) => origin(name) === '.env');
  const ofProcess = lookSecret.map((name) => environment[name] ?? '');
  const named = [...new Set([...secret, ...ofFile])].sort().flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [{ name, value }];
  });
  return { values: [...new Set([...secrets, ...more, ...named.map(({ value }) => value), ...ofProcess])], named };
}

export function registryOf(values: Iterable<string>): SecretRegistry {
  const registry = new SecretRegistry();
  registry.add([...values].filter((value) => value.length >= SHORTEST_SOUGHT));
  return registry;
}

/** Tells a changed value here. Without the key, which is in no checkpoint, it tells nothing. */
export const printOf = (key: Buffer, { name, value }: { readonly name: string; readonly value: string }): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(['svc-checkpoint-secret', name, value]))
    .digest('hex');
