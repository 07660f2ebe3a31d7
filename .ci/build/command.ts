// The command `svc` in one file, as far as a short answer needs it: each file more that Node's loader of ES modules has to find is half a
// millisecond, and so is each module of Node that is imported through it. What other commands need is built as entries beside it.
import { basename, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** What it holds itself of all that it loads later. */
const HELD = /^(runtime-(status|stop|restart|reload|logs)|program)\.ts$/;

/**
 * It keeps compiled code of what it loads later beside itself, where Node can do that (from 22.1) and may write there. The folder belongs
 * to the package, unlike Node's default in a temporary folder that other accounts can reach.
 */
export const COMMAND_BANNER = [
  "const __module=process.getBuiltinModule('node:module'),require=__module.createRequire(import.meta.url);",
  "__module.enableCompileCache?.(process.getBuiltinModule('node:url').fileURLToPath(new URL('.compile-cache',import.meta.url)));",
].join('');

/** Without an import it would look like CommonJS to a tool that reads its text. */
export const COMMAND_FOOTER = 'export {};';

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
        return { path: `./${name}.js`, external: true };
      });
    },
  };
}

/** Modules of Node as they are: an import would read each of their properties, which loads half of Node. */
export const builtinsAtOnce: Plugin = {
  name: 'builtins-at-once',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node' }));
    build.onLoad({ filter: /.*/, namespace: 'node' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
};
