// The JavaScript of SQLite's binding for Node 20, inside the bundles: a dozen small files and a search for the addon are 5 ms of a start.
// The addon itself is installed with the package; so is the whole binding of newer Nodes, which keep its code compiled by themselves.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Plugin } from 'esbuild';

const LOADED = "load('better-sqlite3')";
const HELD = "require('better-sqlite3/lib/index.js')";
const ADDON = "module.exports = () => require('better-sqlite3/build/Release/better_sqlite3.node');";

const { resolve } = createRequire(import.meta.url);

export const sqliteInside: Plugin = {
  name: 'sqlite-inside',
  setup(build) {
    build.onLoad({ filter: /shared[\\/]sqlite\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes(LOADED)) throw new Error(`${path} has no ${LOADED}`);
      return { contents: text.replace(LOADED, HELD), loader: 'ts' };
    });
    build.onResolve({ filter: /^better-sqlite3\/lib\/index\.js$/ }, ({ path }) => ({ path: resolve(path) }));
    build.onResolve({ filter: /^bindings$/ }, ({ path }) => ({ path, namespace: 'addon' }));
    build.onLoad({ filter: /.*/, namespace: 'addon' }, () => ({ contents: ADDON, loader: 'js' }));
  },
};
