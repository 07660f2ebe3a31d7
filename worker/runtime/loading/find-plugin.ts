// Finds the plugin named by `plugins.<slot>.use`: part of svc, a file of the project, or a package. Runs no code of it.
//
//   FIND-1  A name that nothing has is a fault of the configuration: no restart helps. The nearest name is suggested.
//   FIND-2  A source that is not compiled, or a dependency that is not installed, is `plugin_failed`: npm mends it, and a reload takes it in.
//   FIND-3  No advice installs a name that package.json does not list. A stranger may have registered the typing error.
import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, join, relative, resolve, sep } from 'node:path';
import { readSmallFile } from '../../../shared/config/checks/small-file.ts';
import { nearest } from '../../../shared/config/nearest.ts';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { BUILT_INS } from './built-ins.ts';
import type { FileRules, PluginFile } from './plugin-files.ts';

export type FoundPlugin = PluginFile | { readonly source: 'built-in'; load(): Promise<unknown> };

/** Details of an error for a name that nothing has. */
export interface NamesNothing {
  readonly names: string;
  readonly suggestion?: string;
}

type Place = Pick<FileRules, 'project' | 'mode'>;

const SCRIPT = /\.[cm]?[jt]s$/;

/** Throws `config_invalid` with `NamesNothing`, and `plugin_failed` for what is neither compiled nor installed. */
export function resolvePlugin(use: string, options: Place): FoundPlugin {
  if (isProjectFile(use)) return { source: 'project', file: findProjectFile(use, options) };
  const builtIn = Object.hasOwn(BUILT_INS, use) ? BUILT_INS[use] : undefined;
  return builtIn === undefined
    ? { source: 'package', file: findPackage(use, options) }
    : { source: 'built-in', load: builtIn };
}

export const isProjectFile = (use: string): boolean => /^\.{0,2}\//.test(use);

/** The file of the project that this mode would load. Throws as `resolvePlugin` does. */
export function findProjectFile(use: string, { project, mode }: Place): string {
  const at = resolve(project, use);
  const places =
    mode === 'production' ? compiledPlaces(at, project) : [...sourcePlaces(at), ...compiledPlaces(at, project)];
  const file = places.find(isFile);
  if (file !== undefined) return file;
  const searched = places.map((path) => relative(project, path)).join(', ');
  if (mode === 'production' && sourceOf(at, project) !== undefined)
    throw new SvcError('plugin_failed', `nothing is at ${use}: looked for ${searched}`, {
      hint: 'compile it first: npm run build',
    });
  throw namesNothing(use, `nothing is at ${use}: looked for ${searched}`, nearestFile(use, project));
}

/** The TypeScript that `npm run build` compiles to a path, or to its place below `dist/`. */
export function sourceOf(at: string, project: string): string | undefined {
  const dist = join(project, 'dist') + sep;
  const written = at.startsWith(dist) ? join(project, at.slice(dist.length)) : at;
  return sourcePlaces(written.replace(/\.([cm]?)js$/, '.$1ts')).find(isFile);
}

const sourcePlaces = (at: string): readonly string[] => (SCRIPT.test(at) ? [at] : [`${at}.ts`, join(at, 'index.ts')]);

function compiledPlaces(at: string, project: string): readonly string[] {
  const compiled = at.startsWith(project + sep) ? join(project, 'dist', at.slice(project.length + 1)) : at;
  const script = (base: string): string[] =>
    /\.[cm]?js$/.test(base) ? [base] : [`${base}.js`, join(base, 'index.js'), `${base}.mjs`];
  return [...script(compiled.replace(/\.ts$/, '.js')), ...script(at.replace(/\.ts$/, '.js'))];
}

function findPackage(use: string, { project }: Place): string {
  const { resolve: resolveFrom } = createRequire(join(project, 'package.json'));
  const [first = '', second] = use.split('/');
  const id = first.startsWith('@') && second !== undefined ? `${first}/${second}` : first;
  const listed = dependenciesOf(project);
  if (!isBuiltin(use)) {
    try {
      return resolveFrom(use);
    } catch (error) {
      const isThere = (resolveFrom.paths(use) ?? []).some((folder) => isFile(join(folder, id, 'package.json')));
      if (isThere) throw withoutEntry(use, id, error);
      if (listed.includes(id))
        throw new SvcError('plugin_failed', `"${use}" is in package.json, but it is not installed`, {
          cause: error,
          hint: existsSync(projectPaths(project).lockfile) ? 'npm ci' : 'npm install',
        });
    }
  }
  const builtIn = Object.keys(BUILT_INS);
  const message = `"${use}" is not built in (${builtIn.join(', ')}) and not an installed package`;
  const suggestion = nearestName(use, [...builtIn, ...listed, ...installedPlugins(project)], project);
  throw suggestion === undefined
    ? namesNothing(use, `${message}; a file of the project begins with ./`)
    : namesNothing(use, message, suggestion);
}

/** The nearest of the names, or a file in `plugins/` that is named without its path. */
function nearestName(use: string, names: readonly string[], project: string): string | undefined {
  const files = scriptsIn(join(project, 'plugins'), join(project, 'dist/plugins'));
  const all = [...names, ...files];
  const short = use.startsWith('@') ? use : basename(use).replace(SCRIPT, '');
  const near = nearest(use, all) ?? nearest(short, all);
  return near === undefined || names.includes(near) ? near : `./plugins/${near}`;
}

/** The package is there, so the name is right. */
const withoutEntry = (use: string, id: string, error: unknown): SvcError =>
  new SvcError(
    'plugin_failed',
    `"${use}" is installed, but its package.json leads to no file that can be loaded (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    {
      cause: error,
      hint:
        use === id
          ? 'npm ci; if that changes nothing, the package is faulty'
          : `see "exports" in the package.json of ${id}`,
    },
  );

function namesNothing(use: string, message: string, suggestion?: string): SvcError {
  const details: NamesNothing = { names: use, ...(suggestion === undefined ? {} : { suggestion }) };
  return new SvcError('config_invalid', message, { details: { ...details } });
}

/** Dependencies in the project's package.json. */
function dependenciesOf(project: string): readonly string[] {
  const read = readSmallFile(projectPaths(project).packageJson);
  if (read.kind !== 'text') return [];
  try {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read.text) as Readonly<
      Record<string, unknown>
    >;
    return [dependencies, devDependencies, optionalDependencies].flatMap((names) =>
      Object.keys(isRecord(names) ? names : {}),
    );
  } catch {
    return []; // a malformed file is reported elsewhere; it yields no suggestions
  }
}

/** Packages that call themselves plugins or adapters of svc. Most of `node_modules` is no plugin, so it is never suggested. */
function installedPlugins(project: string): readonly string[] {
  const root = join(project, 'node_modules');
  return foldersIn(root).flatMap((name) =>
    name.startsWith('@')
      ? foldersIn(join(root, name)).flatMap((inner) => (inner.startsWith('svc-') ? [`${name}/${inner}`] : []))
      : name.startsWith('svc-')
        ? [name]
        : [],
  );
}

const foldersIn = (path: string): readonly string[] => entriesOf(path).map(({ name }) => name);

/** The existing path that differs least from `use`, part by part; else the built-in of nearly that name. */
function nearestFile(use: string, project: string): string | undefined {
  const parts = relative(project, resolve(project, use)).split(sep);
  const found: string[] = [];
  for (const part of parts) {
    const at = found.join(sep);
    const names = scriptsIn(join(project, at), join(project, 'dist', at));
    const name = names.includes(part) ? part : nearest(part.replace(SCRIPT, ''), names);
    if (name === undefined) return nearest(basename(use), Object.keys(BUILT_INS));
    found.push(name);
  }
  const path = `./${found.join('/')}`;
  const [only, ...others] = scriptsIn(join(project, path), join(project, 'dist', path));
  if (only !== undefined && others.length === 0) return `${path}/${only}`;
  return path === `./${parts.join('/')}` ? undefined : path;
}

/** Names by which files and folders can be named in `use`, without their endings. */
function scriptsIn(...folders: readonly string[]): readonly string[] {
  const usable = folders.flatMap(entriesOf).flatMap((entry) => {
    const isScript = SCRIPT.test(entry.name) && !/\.(test|d)\.[cm]?[jt]s$/.test(entry.name);
    if (entry.isDirectory()) return /^(node_modules$|\.)/.test(entry.name) ? [] : [entry.name];
    return isScript ? [entry.name.replace(SCRIPT, '')] : [];
  });
  return [...new Set(usable)].filter((name) => name !== 'index');
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // not there, or not a folder
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
