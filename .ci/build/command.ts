// The command `svc` in one script, as far as a short answer and the start of a host need it: Node's loader of ES modules alone is 5 ms,
// and each file more that it has to find is half a millisecond. What other commands need is built as modules beside it.
import { join, relative } from 'node:path';
import type { OnResolveResult, Plugin } from 'esbuild';
import { ROOT } from './output.ts';

const CLI = join(ROOT, 'supervisor/cli');

/** What it holds itself of all that it loads later. */
const HELD =
  /\/(commands\/runtime\/(start|status|stop|restart|reload|logs)|program|control-client|second-owner|worker-entry|start-daemon)\.ts$/;

/** For CommonJS: where the file is. */
export const SCRIPT_BANNER = `const __importMetaUrl=require('node:url').pathToFileURL(__filename).href;`;
export const SCRIPT_DEFINES = { 'import.meta.url': '__importMetaUrl' } as const;

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

const THROUGH = 'through-loader';

/** An `import()` of this becomes one by whoever loads the bundle. */
export const throughLoader = (path: string): OnResolveResult => ({ path, namespace: THROUGH });

/**
 * For a bundle that is loaded with kept code (shared/compiled-code.ts): on Node 20 such code has no `import()` of its own and borrows that of
 * its loader, `module.import`. A module that exports `then` is awaited by whoever imports it, so `import()` gives the package itself.
 */
export function importsThroughLoader(outside: readonly string[]): Plugin {
  const isOutside = (path: string): boolean =>
    path.startsWith('node:') || outside.some((name) => path === name || path.startsWith(`${name}/`));
  return {
    name: 'imports-through-loader',
    setup(build) {
      build.onResolve({ filter: /^[^.]/ }, ({ path, kind }) =>
        kind === 'dynamic-import' && isOutside(path) ? throughLoader(path) : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: THROUGH }, ({ path }) => ({
        contents: `const load = module.import ?? ((name) => import(name));
export const then = (done, failed) => load(${JSON.stringify(path)}).then(done, failed);`,
        loader: 'js',
      }));
    },
  };
}

/** Leaves other files that are loaded later outside, and names them as entries of a build of their own. */
export function loadedLater(entries: Map<string, string>): Plugin {
  return {
    name: 'loaded-later',
    setup(build) {
      build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, kind, resolveDir }) => {
        const file = join(resolveDir, path);
        if (kind !== 'dynamic-import' || HELD.test(file)) return undefined;
        const name = `command-${relative(CLI, file).replaceAll(/\W+/g, '-').replace(/-ts$/, '')}`;
        entries.set(name, file);
        return throughLoader(`./${name}.mjs`);
      });
    },
  };
}
