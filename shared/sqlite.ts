// Loads the build of better-sqlite3 that this Node can run. No other module names the package.
//
//   SQLITE-1  12.11.1 aborts the process on Node 24.19 and later (`RemoveEnvironmentCleanupHook`: a collected statement). 13 does not.
//   SQLITE-2  13 needs Node-API 10. On Node 20, and on 22 before 22.14, it crashes with a segmentation fault. 12.11.1 does not.
//   SQLITE-3  The package is loaded with the first connection, and looked at only then: a file that changes later does not disturb a running host.
//             A package that does not load throws `modules_unusable`, wherever the first connection is opened.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type Constructor from 'better-sqlite3';
import { isOfLoading, modulesUnusable, unfitFile } from './files/native-module.ts';
import type { SvcError } from './svc-error.ts';

const NODE_API_OF_13 = 10;
const USUAL = 'better-sqlite3';
const OF_NEWER_NODE = 'better-sqlite3-13';

export type { Database } from 'better-sqlite3';

const load = createRequire(import.meta.url);

const isNew = Number(process.versions['napi']) >= NODE_API_OF_13;
const NAME = isNew ? OF_NEWER_NODE : USUAL;

let loaded: typeof Constructor | undefined;
/** Node reports another error at each further attempt to load the same file. */
let failure: SvcError | undefined;

/** The constructor of connections. Both builds have the same interface. Throws `modules_unusable` if there is none. */
export const Sqlite = new Proxy(Object as unknown as typeof Constructor, {
  construct: (_, given: ConstructorParameters<typeof Constructor>) => connect(given),
});

/** Loads the package and opens a database in memory. Throws `modules_unusable`. */
export function trySqlite(): void {
  connect([':memory:']).close();
}

/** The file with the native code of the package; undefined if there is none. */
export function nativeFile(): string | undefined {
  return nativeFileOf(NAME);
}

function connect(given: ConstructorParameters<typeof Constructor>): Constructor.Database {
  if (loaded !== undefined) return new loaded(...given);
  if (failure !== undefined) throw failure;
  const unfit = unfitNow();
  if (unfit !== undefined) throw unusable(unfit);
  let found: typeof Constructor | undefined;
  try {
    found = load(NAME) as typeof Constructor;
    return new found(...given);
  } catch (error) {
    if (!isOfLoading(error)) throw error;
    found = undefined;
    throw unusable(error);
  } finally {
    loaded = found; // also if SQLite itself has failed (SQLITE-3)
  }
}

function unfitNow(): string | undefined {
  const file = nativeFileOf(NAME);
  return file === undefined ? undefined : unfitFile(file);
}

/** A package that is missing was left out because the packages were installed for an older Node: the other build says which. */
function unusable(cause: unknown): SvcError {
  failure = modulesUnusable({ name: NAME, from: import.meta.url, cause: (isNew && ofOtherNode()) || cause });
  return failure;
}

function ofOtherNode(): unknown {
  const file = nativeFileOf(OF_NEWER_NODE) === undefined ? nativeFileOf(USUAL) : undefined;
  if (file === undefined || unfitFile(file) !== undefined) return undefined;
  try {
    load(file);
    return undefined;
  } catch (error) {
    return error;
  }
}

function nativeFileOf(name: string): string | undefined {
  try {
    const root = dirname(dirname(load.resolve(name)));
    return [
      join(root, 'build', 'Release', 'better_sqlite3.node'),
      join(root, 'prebuilds', `${process.platform}-${process.arch}.node`),
    ].find((file) => existsSync(file));
  } catch {
    return undefined; // not installed
  }
}
