// SQLite's binding in the build that this Node can run. Nothing else names the package.
//
//   B1  12.11.1 aborts the process on Node from 24.19 (`RemoveEnvironmentCleanupHook`: a collected statement); 13 does not.
//   B2  13 needs Node-API 10: on Node 20 and before 22.14 it ends with a segmentation fault; 12.11.1 does not.
import { createRequire } from 'node:module';
import type Constructor from 'better-sqlite3';

const NODE_API_OF_13 = 10;

export type { Database } from 'better-sqlite3';

const load = createRequire(import.meta.url);

const isNew = Number(process.versions['napi']) >= NODE_API_OF_13;

/** The constructor of connections; the same interface in both builds. */
export const Sqlite = (isNew ? load('better-sqlite3-13') : load('better-sqlite3')) as typeof Constructor;
