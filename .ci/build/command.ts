// The command `svc` in one script, as far as a short answer and the start of a host need it: Node's loader of ES modules alone is 5 ms,
// and each file more that it has to find is half a millisecond. What other commands need is built as modules beside it.
import { basename, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** What it holds itself of all that it loads later. */
const HELD =
  /^(runtime-(start|status|stop|restart|reload|logs)|program|control-client|second-owner|worker-entry|start-daemon)\.ts$/;

/** For CommonJS: where the file is. */
export const SCRIPT_BANNER = `const __importMetaUrl=require('node:url').pathToFileURL(__filename).href;`;
export const SCRIPT_DEFINES = { 'import.meta.url': '__importMetaUrl' } as const;

/**
 * It keeps compiled code of what it loads later beside itself, where Node can do that (from 22.1) and may write there. The folder belongs
 * to the package, unlike Node's default in a temporary folder that other accounts can reach.
 */
export const COMMAND_BANNER = `"use strict";${SCRIPT_BANNER}require('node:module').enableCompileCache?.(require('node:path').join(__dirname,'.compile-cache'));`;

/** The foreground's worker is a script like the command: required, it takes no turn of Node's loader of ES modules. */
export const workerRequired: Plugin = {
  name: 'worker-required',
  setup(build) {
    build.onResolve({ filter: /worker\/main\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './worker.js', namespace: 'required' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
      loader: 'js',
    }));
    build.onResolve({ filter: /.*/, namespace: 'required' }, ({ path }) => ({ path, external: true }));
  },
};

/** Leaves other files that are loaded later outside, and names them as entries of a build of their own. */
export function loadedLater(entries: Map<string, string>): Plugin {
  return {
    name: 'loaded-later',
    setup(build) {
      build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, kind, resolveDir }) => {
        const file = basename(path);
        if (kind !== 'dynamic-import' || HELD.test(file)) return undefined;
        const name = `command-${basename(file, '.ts')}`;
        entries.set(name, join(resolveDir, path));
        return { path: `./${name}.mjs`, external: true };
      });
    },
  };
}
