// What this process has loaded, as it was then. A module is loaded once a process, and one that could not be loaded fails the same way
// ever after: once a file of it is another, only a new process runs it as it is.
//
//   C1  A file counts from before it is loaded, whether that succeeds or not.
//   C2  With a file count those that it imports by a relative path, and a package that it imports and that is not installed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, extname, join, resolve, sep } from 'node:path';

export class LoadedCode {
  /** By the first path of a module: the digests of all its paths as they were at its first load. */
  readonly #modules = new Map<string, ReadonlyMap<string, string>>();

  /** A module of these paths, by the first of them, is about to be loaded. Gives what of it is not as it was at its first load. */
  load(paths: readonly string[]): readonly string[] {
    const [first] = paths;
    if (first === undefined) return [];
    if (this.#modules.has(first)) return this.changed([first]);
    this.#modules.set(first, new Map(paths.map((path) => [path, hashPath(path)])));
    return [];
  }

  /** Of the modules with these first paths: what is not as it was. */
  changed(modules: readonly string[]): readonly string[] {
    const paths = modules.flatMap((first) => [...(this.#modules.get(first) ?? [])]);
    return [...new Map(paths)].filter(([path, hash]) => hashPath(path) !== hash).map(([path]) => path);
  }
}

/** Paths that stand for the code of a module; a folder stands for all code below it, and is there for an index file. */
export function codeOf(file: string): readonly string[] {
  const folder = /[\\/]index\.[cm]?js$/.test(file) ? dirname(file) : undefined;
  const reached = new Set([file]);
  for (const path of reached) for (const imported of importsOf(path)) reached.add(imported);
  if (folder === undefined) return [...reached];
  return [folder, ...[...reached].filter((path) => !path.startsWith(folder + sep))];
}

/** What follows `from`, `import` and `require`: what is computed is not seen. */
const IMPORTED = /\b(?:from|import|require)\s*\(?\s*(['"])([^'"\n]+)\1/g;

function importsOf(path: string): readonly string[] {
  if (!/\.[cm]?js$/.test(path) || !isFile(path)) return [];
  const folder = dirname(realpathSync(path));
  const named = [...readFileSync(path, 'utf8').matchAll(IMPORTED)].map(([, , name = '']) => name);
  return named.flatMap((name) => (/^\.{1,2}\//.test(name) ? [placeOf(resolve(folder, name))] : missing(path, name)));
}

/** Where it is; where nothing is, where it would come to be. */
function placeOf(at: string): string {
  const places = [at, `${at}.js`, `${at}.cjs`, `${at}.json`, join(at, 'index.js')];
  return places.find(isFile) ?? (extname(at) === '' ? `${at}.js` : at);
}

/** A package that is installed changes with the lockfile. */
function missing(from: string, name: string): readonly string[] {
  const [first = '', second = ''] = name.split('/');
  const id = first.startsWith('@') ? `${first}/${second}` : first;
  if (isBuiltin(name) || !/^(@[\w.~-]+\/)?[\w.~-]+$/.test(id)) return [];
  const places = (createRequire(from).resolve.paths(id) ?? []).map((folder) => join(folder, id));
  return places.some((place) => existsSync(place)) ? [] : places.map((place) => join(place, 'package.json'));
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Digest of a file, or of all code below a folder; what is not there has one too. */
function hashPath(path: string): string {
  const hash = createHash('sha256');
  for (const file of codeBelow(path)) hash.update(file).update('\0').update(readFileSync(file));
  return hash.digest('hex');
}

/** A file, or all code below a folder; nothing where nothing is. */
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
