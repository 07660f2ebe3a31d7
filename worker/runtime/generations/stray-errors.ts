// Collects uncaught errors (from a plugin's timer or an unawaited promise) while a separate process assembles plugins. Each is reported
// with the slot whose file is in its stack. A worker would end by it.
import { pathToFileURL } from 'node:url';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { messageOf } from '../../../shared/svc-error.ts';
import { findProjectFile, isProjectFile } from '../loading/find-plugin.ts';
import type { LoaderOptions } from '../loading/plugin-loader.ts';
import type { OnceFault } from '../once-types.ts';

export interface StrayErrors {
  /** Resolves with the errors so far, after timers that are due. Later errors end the process again. */
  end(): Promise<readonly OnceFault[]>;
}

/** Waits for timers of `setup` that are due within this time. */
const LAST_TURN_MS = 20;

export function collectStrayErrors(loaded: LoadedConfig, options: LoaderOptions): StrayErrors {
  const thrown: unknown[] = [];
  const keep = (error: unknown): void => void thrown.push(error);
  process.on('uncaughtException', keep);
  process.on('unhandledRejection', keep);
  return {
    async end() {
      await new Promise((resolve) => setTimeout(resolve, LAST_TURN_MS));
      process.off('uncaughtException', keep);
      process.off('unhandledRejection', keep);
      return thrown.map((error) => ({
        component: componentOf(error, loaded, options),
        message: `outside any handler: ${messageOf(error)}`,
        hint: 'catch it in the timer or the promise where it happens: a worker ends by it',
      }));
    },
  };
}

/** `root/<slot>` if a file of that slot is in the stack, otherwise `root`. */
export function componentOf(error: unknown, { config }: LoadedConfig, options: LoaderOptions): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const slot = Object.entries(config.plugins).find(
    ([name, { enabled, use = name }]) => enabled && placesOf(use, options).some((place) => stack.includes(place)),
  )?.[0];
  return slot === undefined ? 'root' : `root/${slot}`;
}

/** Paths by which a plugin's files appear in a stack. */
function placesOf(use: string, options: LoaderOptions): readonly string[] {
  if (!isProjectFile(use)) return [`/node_modules/${use}/`];
  try {
    const file = findProjectFile(use, options);
    return [file, pathToFileURL(file).pathname];
  } catch {
    return [];
  }
}
