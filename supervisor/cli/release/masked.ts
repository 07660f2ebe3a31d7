// The secrets of a project are masked in all that a release writes down or says: output of npm and of other commands, and reasons of an operator.
//
//   RELEASE-SECRETS-1  Masked in each spelling: secrets of the configuration, of that of the new code too; variables that look secret by name; and those
//                      that alone are the value of a plugin's key, since nobody knows its schema here.
//   RELEASE-SECRETS-2  A configuration that cannot be loaded is no reason to stop: a release may be what mends it. Names of variables tell then.
import { type Environment, projectEnvironment } from '../../../shared/config/environment.ts';
import { loadConfig } from '../../../shared/config/load.ts';
import { looksSecret } from '../../../shared/config/resolve.ts';
import { secretVariables } from '../../../shared/config/secret-variables.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { SecretRegistry } from '../../../shared/log/redaction.ts';
import { SHORTEST_SOUGHT } from '../../../shared/recovery/known-secrets.ts';

export type Mask = (text: string) => string;

export interface MaskOptions {
  readonly project: string;
  /** Of the process. */
  readonly env: Environment;
  /** New code: its configuration refers to the variables of the project. */
  readonly tree?: string | undefined;
}

export function maskFor({ project, env, tree }: MaskOptions): Mask {
  const variables = variablesOf(project, env);
  const byName = Object.entries(variables).flatMap(([name, value]) => (looksSecret(name) ? [value ?? ''] : []));
  const registry = new SecretRegistry();
  registry.add([
    ...byName.filter((value) => value.length >= SHORTEST_SOUGHT),
    ...secretsIn(project, variables),
    ...(tree === undefined || tree === project ? [] : secretsIn(tree, variables)),
  ]);
  return (text) => registry.mask(text);
}

/** The same document, each text in it masked. */
export function maskedDocument<T>(document: T, mask: Mask): T {
  const masked = (value: unknown): unknown => {
    if (typeof value === 'string') return mask(value);
    if (Array.isArray(value)) return value.map(masked);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [mask(key), masked(inner)]));
  };
  return masked(document) as T;
}

function variablesOf(project: string, environment: Environment): Environment {
  try {
    return projectEnvironment({ file: projectPaths(project).env, mode: 'test', environment }).values;
  } catch {
    return environment;
  }
}

function secretsIn(project: string, environment: Environment): readonly string[] {
  try {
    const { secrets, references, secretKeys } = loadConfig({ project, mode: 'test', environment, servesNothing: true });
    const { secret, unjudged } = secretVariables(references, { secretKeys, slots: new Set() });
    const values = [...secret, ...unjudged].map((name) => environment[name] ?? '');
    return [...secrets, ...values.filter((value) => value.length >= SHORTEST_SOUGHT)];
  } catch {
    return [];
  }
}
