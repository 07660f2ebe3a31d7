// The command `svc` in one script, as far as a short answer and the start of a host need it: Node's loader of ES modules alone is 5 ms,
// and each file more that it has to find is half a millisecond. What other commands need is built as modules beside it.
import { basename, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** What it holds itself of all that it loads later. */
const HELD =
  /^(runtime-(start|status|stop|restart|reload|logs)|program|control-client|second-owner|worker-entry|start-daemon)\.ts$/;

/**
 * Below Node 24 code that was kept (Node's own of its modules, and ours) is refused by a process whose options of V8 differ from those it
 * was made with, and a worker is started with one: 20 ms of its start. The size was read when the heap was made; from here on it is said
 * to be the usual one. Node's own way (`node:v8`) would be compiled first, 7 ms. Where there is no such binding nothing is refused.
 */
export const USUAL_OPTIONS =
  '{const silent=process.noDeprecation;process.noDeprecation=true;' +
  "try{process.binding('v8').setFlagsFromString('--max-semi-space-size=0')}catch{}process.noDeprecation=silent}";

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
