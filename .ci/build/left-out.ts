// What packages load and the host never uses, or not at its start: left out of the bundles, or loaded at its first use. All of it would
// be a third of the worker, and a quarter of its start.
import type { Plugin } from 'esbuild';

const NOTHING = 'module.exports = {};';
const SILENT = 'module.exports = () => () => {};';

const INSTEAD: Readonly<Record<string, string>> = {
  // Of Express: bodies are read as bytes first and then strictly, queries and files by code of our own, and types are named by whoever answers.
  'body-parser': NOTHING,
  qs: NOTHING,
  send: NOTHING,
  'serve-static': NOTHING,
  'mime-db': NOTHING,
  // Of pino: transports and streams of its own, which carry lines in other threads and to files. Ours takes lines as they come.
  'thread-stream': NOTHING,
  'sonic-boom': 'module.exports = class {};',
  // Of Express: an error for each status of HTTP, made when the first is asked for.
  'http-errors': `module.exports = (...facts) => require('http-errors')(...facts);`,
  // No connection becomes a WebSocket before the host is up.
  ws: atFirstUse('ws', ['WebSocket', 'WebSocketServer']),
  // What Express would print for its own developers. To know who asks, each of them takes a stack apart while it is loaded.
  depd: SILENT,
  debug: SILENT,
  // Default metrics, push gateway, cluster and what they load.
  'prom-client': `exports.Registry = require('prom-client/lib/registry.js'); exports.Counter = require('prom-client/lib/counter.js');
exports.Gauge = require('prom-client/lib/gauge.js'); exports.Histogram = require('prom-client/lib/histogram.js');`,
};

/** Modules of Node that a start can do without, although somebody has to name them. */
const FIRST_USE = ['fs/promises', 'https', 'perf_hooks', 'timers/promises', 'tls', 'worker_threads'] as const;

/** pino asks whether this is a thread, for the streams that are left out. */
const ASKS_AT_ONCE = /[\\/]pino[\\/]lib[\\/]tools\.js$/;

const NAMES = new RegExp(`^(${Object.keys(INSTEAD).join('|')})$`);
const BUILTINS = new RegExp(`^(node:)?(${FIRST_USE.join('|')})$`);

export const leftOut: Plugin = {
  name: 'left-out',
  setup(build) {
    build.onResolve({ filter: NAMES }, ({ path, resolveDir, namespace }) =>
      namespace === 'left-out' ? undefined : { path, namespace: 'left-out', pluginData: resolveDir },
    );
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path, pluginData }) => ({
      contents: INSTEAD[path] ?? NOTHING,
      loader: 'js',
      resolveDir: String(pluginData),
    }));
    // `import()` is a first use already; and of a module that is made here a bundle with parts of its own would have the default alone.
    build.onResolve({ filter: BUILTINS }, ({ path, namespace, importer, kind }) =>
      namespace === 'first-use' || kind === 'dynamic-import'
        ? { path, external: true }
        : { path: path.replace(/^node:/, ''), namespace: ASKS_AT_ONCE.test(importer) ? 'left-out' : 'first-use' },
    );
    build.onLoad({ filter: /.*/, namespace: 'first-use' }, ({ path }) => ({
      contents: atFirstUse(`node:${path}`, Object.keys(process.getBuiltinModule(path) ?? {})),
      loader: 'js',
    }));
  },
};

/** These exports of the module, which is loaded when one of them is asked for. */
function atFirstUse(module: string, names: readonly string[]): string {
  return `let loaded;
for (const name of ${JSON.stringify(names)})
  Object.defineProperty(exports, name, { enumerable: true, get: () => (loaded ??= require('${module}'))[name] });`;
}
