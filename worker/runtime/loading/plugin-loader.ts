// Finds and imports the plugin named by `plugins.<slot>.use`: part of svc, a file of the project, or a package.
//
//   LOADER-1  In production a project's plugin is compiled JavaScript (dist/<path>, then <path>). TypeScript runs in development only.
//   LOADER-2  In development each load is a new module graph. In production a module is loaded once per process, and a failed one keeps
//             failing. So its files are recorded, and a reload throws `restart_required` when they have changed.
//   LOADER-3  In production no file is loaded that other users can change.
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readSmallFile } from '../../../shared/config/checks/small-file.ts';
import { nearest } from '../../../shared/config/nearest.ts';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';
import { importModule } from '../../../shared/files/compiled-code.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { type Clock, systemClock, type Timer } from '../../../shared/time/clock.ts';
import { BUILT_INS } from './built-ins.ts';
import { codeOf } from './loaded-code.ts';
import { type FileRules, type PluginFile, refuseUntrusted } from './plugin-files.ts';

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

type FoundPlugin = PluginFile | { readonly source: 'built-in'; load(): Promise<unknown> };

/**
 * Throws `plugin_failed` with the searched places. If nothing was found, `details.names` is `use`, and `details.suggestion` the nearest
 * name.
 */
export function resolvePlugin(use: string, options: LoaderOptions): FoundPlugin {
  if (isProjectFile(use)) return { source: 'project', file: findProjectFile(use, options) };
  const builtIn = Object.hasOwn(BUILT_INS, use) ? BUILT_INS[use] : undefined;
  return builtIn === undefined
    ? { source: 'package', file: findPackage(use, options) }
    : { source: 'built-in', load: builtIn };
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
  if (options.builtInOnly === true) return undefined;
  if (source === 'project' && options.mode !== 'production')
    return { module: await importFresh(file, use, options), source };
  options.loading?.(source === 'project' ? codeOf(file) : [file]);
  return { module: await importDefault(file, use, options), source };
}

const IMPORT_LIMIT_MS = 15_000;

export const isProjectFile = (use: string): boolean => /^\.{0,2}\//.test(use);

/** The file of the project that this mode would load. Throws `plugin_failed` if there is none. */
export function findProjectFile(use: string, { project, mode }: LoaderOptions): string {
  const candidates = candidatesOf(use, project, mode);
  const file = candidates.find((path) => existsSync(path) && statSync(path).isFile());
  if (file === undefined) {
    throw new SvcError(
      'plugin_failed',
      `nothing is at ${use}: looked for ${candidates.map((path) => relative(project, path)).join(', ')}`,
      {
        details: { names: use },
        hint: mode === 'development' ? 'check `use` in svc.config.yml' : 'compile it first: npm run build',
      },
    );
  }
  return file;
}

function candidatesOf(use: string, project: string, mode: FileRules['mode']): readonly string[] {
  const at = resolve(project, use);
  const compiled = at.startsWith(project + sep) ? join(project, 'dist', at.slice(project.length + 1)) : at;
  const script = (base: string): string[] =>
    /\.[cm]?js$/.test(base) ? [base] : [`${base}.js`, join(base, 'index.js'), `${base}.mjs`];
  const source = /\.[cm]?[jt]s$/.test(at) ? [at] : [`${at}.ts`, join(at, 'index.ts')];
  const built = [...script(compiled.replace(/\.ts$/, '.js')), ...script(at.replace(/\.ts$/, '.js'))];
  return mode === 'production' ? built : [...source, ...built];
}

function findPackage(use: string, { project }: LoaderOptions): string {
  try {
    return createRequire(join(project, 'package.json')).resolve(use);
  } catch (error) {
    const builtIn = Object.keys(BUILT_INS);
    const suggestion = nearest(use, [...builtIn, ...dependenciesOf(project)]);
    throw new SvcError(
      'plugin_failed',
      `"${use}" is not built in (${builtIn.join(', ')}) and not an installed package`,
      {
        cause: error,
        details: { names: use, ...(suggestion === undefined ? {} : { suggestion }) },
        hint: `npm install ${use}, or name a file of the project with ./`,
      },
    );
  }
}

/** Dependencies in the project's package.json. */
function dependenciesOf(project: string): readonly string[] {
  const read = readSmallFile(projectPaths(project).packageJson);
  if (read.kind !== 'text') return [];
  try {
    const { dependencies, devDependencies } = JSON.parse(read.text) as Readonly<Record<string, unknown>>;
    return [dependencies, devDependencies].flatMap((names) => Object.keys(isRecord(names) ? names : {}));
  } catch {
    return []; // a malformed file is reported elsewhere; it yields no suggestions
  }
}

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
