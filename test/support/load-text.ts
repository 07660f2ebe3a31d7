// Loads a configuration text in a temporary project: the result, or the faults.
import type { ConfigFault } from '../../shared/config/fault.ts';
import { type LoadedConfig, loadConfig } from '../../shared/config/load.ts';
import type { Mode } from '../../shared/config/mode.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from './temporary-project.ts';

export const GOOD_TOKEN = 'a-token-of-26-characters-x';

export interface LoadTextOptions {
  /** In mode test, for a report alone unless told. */
  readonly servesNothing?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly mode?: Mode;
}

/** The loaded configuration; HTTP_TOKEN is good unless given. Throws what `loadConfig` throws. */
export function loadText(
  t: Cleanup,
  text: string,
  { env = {}, mode = 'production', servesNothing = true }: LoadTextOptions = {},
): LoadedConfig {
  const project: TemporaryProject = temporaryProject(t, { config: text, env: { SVC_ANY_PORT: '0' } });
  project.write('.env', '');
  return loadConfig({ project: project.path, mode, environment: { HTTP_TOKEN: GOOD_TOKEN, ...env }, servesNothing });
}

/** The faults of a text, as `line:column path`, and the whole error. Fails when there are none. */
export function faultsOf(load: () => unknown): {
  readonly error: SvcError;
  readonly faults: readonly ConfigFault[];
  readonly places: readonly string[];
} {
  try {
    load();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const faults = error.details['faults'] as readonly ConfigFault[];
    return { error, faults, places: faults.map(({ line, column, path }) => `${line}:${column} ${path}`) };
  }
  throw new Error('the configuration was taken');
}
