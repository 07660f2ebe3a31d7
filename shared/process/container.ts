// Whether this process runs in a container, by what its engine leaves there.
import { existsSync } from 'node:fs';

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Tests a file's existence; replaceable in tests. */
  readonly exists?: (path: string) => boolean;
}

/** Podman hides its file below the `/run` of a read-only container. There the variable `container` tells. */
export const isContainer = ({ environment, exists = existsSync }: Surroundings): boolean =>
  exists('/.dockerenv') ||
  exists('/run/.containerenv') ||
  ['KUBERNETES_SERVICE_HOST', 'container'].some((name) => (environment[name] ?? '') !== '');
