// Records the code that this process has loaded. Node loads a module once per process, and a failed module fails again the same way.
// So changed files of a module need a new process.
//
//   LOADED-1  A file is recorded before it is loaded, whether loading succeeds or not.
//   LOADED-2  Files imported by a relative path are recorded too, and missing packages that the file imports.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, extname, join, resolve, sep } from 'node:path';

export class LoadedCode {
  /** Keyed by the first path of a module: digests of all its paths at its first load. */
  readonly #modules = new Map<string, ReadonlyMap<string, string>>();

  /** Call it before loading the module of these paths. Returns the paths that changed since its first load. */
  load(paths: readonly string[]): readonly string[] {
    const [first] = paths;
    if (first === undefined) return [];
    if (this.#modules.has(first)) return this.changed([first]);
    this.#modules.set(first, new Map(paths.map((path) => [path, hashPath(path)])));
    return [];
  }

  /** Changed paths of the modules with these first paths. */
  changed(modules: readonly string[]): readonly string[] {
    const paths = modules.flatMap((first) => [...(this.#modules.get(first) ?? [])]);
    return [...new Map(paths)].filter(([path, hash]) => hashPath(path) !== hash).map(([path]) => path);
  }
}

/** Paths of a module's code. An index file is represented by its folder, which stands for all code below it. */
export function codeOf(file: string): readonly string[] {
  const folder = /[\\/]index\.[cm]?js$/.test(file) ? dirname(file) : undefined;
  const reached = new Set([file]);
  for (const path of reached) for (const imported of importsOf(path)) reached.add(imported);
  if (folder === undefined) return [...reached];
  return [folder, ...[...reached].filter((path) => !path.startsWith(folder + sep))];
}

/** String literals after `from`, `import` and `require`. Computed imports are not found. */
const IMPORTED = /\b(?:from|import|require)\s*\(?\s*(['"])([^'"\n]+)\1/g;

function importsOf(path: string): readonly string[] {
  if (!/\.[cm]?js$/.test(path) || !isFile(path)) return [];
  const folder = dirname(realpathSync(path));
  const named = [...readFileSync(path, 'utf8').matchAll(IMPORTED)].map(([, , name = '']) => name);
  return named.flatMap((name) => (/^\.{1,2}\//.test(name) ? [placeOf(resolve(folder, name))] : missing(path, name)));
}

/** The path of an imported file, or the path where it would be created. */
function placeOf(at: string): string {
  const places = [at, `${at}.js`, `${at}.cjs`, `${at}.json`, join(at, 'index.js')];
  return places.find(isFile) ?? (extname(at) === '' ? `${at}.js` : at);
}

/** Paths of a package that is not installed. An installed one changes together with the lockfile. */
function missing(from: string, name: string): readonly string[] {
  const [first = '', second = ''] = name.split('/');
  const id = first.startsWith('@') ? `${first}/${second}` : first;
  if (isBuiltin(name) || !/^(@[\w.~-]+\/)?[\w.~-]+$/.test(id)) return [];
  const places = (createRequire(from).resolve.paths(id) ?? []).map((folder) => join(folder, id));
  return places.some((place) => existsSync(place)) ? [] : places.map((place) => join(place, 'package.json'));
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Digest of a file, or of all code below a folder. A missing path has a digest too. */
function hashPath(path: string): string {
  const hash = createHash('sha256');
  for (const file of codeBelow(path)) hash.update(file).update('\0').update(readFileSync(file));
  return hash.digest('hex');
}

/** The file itself, or all code below a folder. Empty if nothing exists. */
export function codeBelow(path: string): readonly string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (stat.isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory()
        ? codeBelow(join(path, entry.name))
        : /\.([cm]?js|json)$/.test(entry.name)
          ? [join(path, entry.name)]
          : [],
    );
}
