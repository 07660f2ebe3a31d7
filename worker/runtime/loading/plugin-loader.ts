// Imports the plugin named by `plugins.<slot>.use`.
//
//   LOADER-1  In production a project's plugin is compiled JavaScript (dist/<path>, then <path>). TypeScript runs in development only.
//   LOADER-2  In development each load is a new module graph. In production a module is loaded once per process, and a failed one keeps
//             failing. So its files are recorded, and a reload throws `restart_required` when they have changed.
//   LOADER-3  In production no file is loaded that other users can change.
import { pathToFileURL } from 'node:url';
import { importModule } from '../../../shared/files/compiled-code.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { type Clock, systemClock, type Timer } from '../../../shared/time/clock.ts';
import { resolvePlugin } from './find-plugin.ts';
import { codeOf } from './loaded-code.ts';
import { type FileRules, refuseUntrusted } from './plugin-files.ts';
import { staleWarning } from './stale-sources.ts';

export type PluginSource = 'built-in' | 'project' | 'package';

export interface LoadedModule {
  /** The default export. */
  readonly module: unknown;
  readonly source: PluginSource;
}

export interface LoaderOptions extends FileRules {
  /** Limit of silence while a module loads, in milliseconds. Default 15 s, shorter than the limit of a start. */
  readonly importLimitMs?: number;
  readonly importClock?: Clock;
  /** Loads only what is part of svc. Other plugins are looked for, and their files judged. */
  readonly builtInOnly?: true;
  /** Called before a module is loaded, with its paths. The process cannot apply changes of these files from then on. */
  readonly loading?: (paths: readonly string[]) => void;
}

/**
 * Throws as `resolvePlugin` does, and `config_invalid` for files that other users can change. Undefined if `builtInOnly` leaves the plugin
 * unloaded.
 */
export async function loadPlugin(use: string, options: LoaderOptions): Promise<LoadedModule | undefined> {
  const found = resolvePlugin(use, options);
  const { source } = found;
  if (source === 'built-in') return { module: await found.load(), source };
  const { file } = found;
  refuseUntrusted(found, options);
  const isSource = source === 'project' && options.mode !== 'production';
  const stale = source === 'project' && !isSource ? staleWarning(file, options.project) : undefined;
  if (stale !== undefined) options.warned?.(stale);
  if (options.builtInOnly === true) return undefined;
  if (isSource) return { module: await importFresh(file, use, options), source };
  options.loading?.(source === 'project' ? codeOf(file) : [file]);
  return { module: await importDefault(file, use, options), source };
}

const IMPORT_LIMIT_MS = 15_000;

/** `moves` is called for each imported file. */
type Importing = (moves: () => void) => Promise<{ readonly default?: unknown }>;

const importDefault = (file: string, use: string, options: LoaderOptions): Promise<unknown> =>
  importWithin(use, options, (moves) => {
    moves();
    return importModule(pathToFileURL(file).href) as ReturnType<Importing>;
  });

const importFresh = (file: string, use: string, options: LoaderOptions): Promise<unknown> =>
  importWithin(use, options, async (moves) => {
    const { tsImport } = await import('tsx/esm/api');
    return tsImport(pathToFileURL(file).href, { parentURL: import.meta.url, onImport: moves });
  });

/** The limit applies between two imported files and after the last one. So a slow compile on a busy machine is not a failure. */
async function importWithin(
  use: string,
  { importLimitMs = IMPORT_LIMIT_MS, importClock = systemClock }: LoaderOptions,
  load: Importing,
): Promise<unknown> {
  let isOver = false;
  let timer: Timer | undefined;
  let giveUp = (): void => {};
  const late = new Promise<'late'>((resolve) => {
    giveUp = () => resolve('late');
  });
  const moves = (): void => {
    timer?.cancel();
    if (!isOver) timer = importClock.after(importLimitMs, giveUp, { background: false });
  };
  const module = await Promise.race([load(moves), late])
    .catch((error: unknown) => {
      throw new SvcError('plugin_failed', `${use} cannot be loaded: ${messageOf(error)}`, { cause: error });
    })
    .finally(() => {
      isOver = true;
      timer?.cancel();
    });
  if (module === 'late')
    throw new SvcError('plugin_failed', `${use} cannot be loaded: it was not done within ${importLimitMs / 1_000} s`, {
      hint: 'look for an await outside any function; what takes long belongs into p.resource',
    });
  return defaultOf(module);
}

/** For a module compiled to CommonJS, Node's default export is an object that contains the real one. */
function defaultOf({ default: found }: { readonly default?: unknown }): unknown {
  const isCompiled = typeof found === 'object' && found !== null && '__esModule' in found && 'default' in found;
  return isCompiled ? found.default : found;
}
