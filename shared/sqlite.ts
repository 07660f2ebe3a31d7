// Loads the build of better-sqlite3 that this Node can run. No other module names the package.
//
//   SQLITE-1  12.11.1 aborts the process on Node 24.19 and later (`RemoveEnvironmentCleanupHook`: a collected statement). 13 does not.
//   SQLITE-2  13 needs Node-API 10. On Node 20, and on 22 before 22.14, it crashes with a segmentation fault. 12.11.1 does not.
import { createRequire } from 'node:module';
import type Constructor from 'better-sqlite3';

const NODE_API_OF_13 = 10;

export type { Database } from 'better-sqlite3';

const load = createRequire(import.meta.url);

const isNew = Number(process.versions['napi']) >= NODE_API_OF_13;

/** The constructor of connections. Both builds have the same interface. */
export const Sqlite = (isNew ? load('better-sqlite3-13') : load('better-sqlite3')) as typeof Constructor;
