// Finds and imports what `plugins.<slot>.use` names: built in, a file of the project, or a package.
//
//   F1  In production a project's plugin is compiled JavaScript (dist/<path> first, then <path>); TypeScript is run in development only.
//   F2  In development each load is a fresh module graph; in production a module is loaded once a process, and one that fails fails the
//       same way ever after: `loaded-code.ts` keeps what its files were, and a reload says `restart_required` when they have changed.
//   F3  In production no file is loaded that others can change.
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
  /** How long a module may stand still before it is done; default 15 s, shorter than a start may take. */
  readonly importLimitMs?: number;
  readonly importClock?: Clock;
  /** Told before a module is loaded, whatever comes of that: its paths, whose change a running process cannot take in from now on. */
  readonly loading?: (paths: readonly string[]) => void;
}

type FoundPlugin = PluginFile | { readonly source: 'built-in'; load(): Promise<unknown> };

/** Throws `plugin_failed` naming what was looked for and where; where nothing is, `details.names` is `use`, `details.suggestion` the nearest name. */
export function resolvePlugin(use: string, options: LoaderOptions): FoundPlugin {
  if (isProjectFile(use)) return { source: 'project', file: findProjectFile(use, options) };
  const builtIn = Object.hasOwn(BUILT_INS, use) ? BUILT_INS[use] : undefined;
  return builtIn === undefined
    ? { source: 'package', file: findPackage(use, options) }
    : { source: 'built-in', load: builtIn };
}

/** Throws as `resolvePlugin` does, and `config_invalid` for files that others can change (F3). */
export async function loadPlugin(use: string, options: LoaderOptions): Promise<LoadedModule> {
  const found = resolvePlugin(use, options);
  const { source } = found;
  if (source === 'built-in') return { module: await found.load(), source };
  const { file } = found;
  refuseUntrusted(found, options);
  if (source === 'project' && options.mode !== 'production')
    return { module: await importFresh(file, use, options), source };
  options.loading?.(source === 'project' ? codeOf(file) : [file]);
  return { module: await importDefault(file, use, options), source };
}

const IMPORT_LIMIT_MS = 15_000;

export const isProjectFile = (use: string): boolean => /^\.{0,2}\//.test(use);

/** The file of the project that a mode would load. Throws `plugin_failed` when there is none. */
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

/** Packages that the project names. */
function dependenciesOf(project: string): readonly string[] {
  const read = readSmallFile(projectPaths(project).packageJson);
  if (read.kind !== 'text') return [];
  try {
    const { dependencies, devDependencies } = JSON.parse(read.text) as Readonly<Record<string, unknown>>;
    return [dependencies, devDependencies].flatMap((names) => Object.keys(isRecord(names) ? names : {}));
  } catch {
    return []; // told by who needs it: here it has no names to give
  }
}

/** `moves` is called whenever a file of it comes in. */
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

/** A busy machine takes long to compile, and no file is to blame for that: the limit is one between two of them, and after the last. */
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

/** Where it was compiled to CommonJS, the default export is a property of what Node takes for the default. */
function defaultOf({ default: found }: { readonly default?: unknown }): unknown {
  const isCompiled = typeof found === 'object' && found !== null && '__esModule' in found && 'default' in found;
  return isCompiled ? found.default : found;
}
