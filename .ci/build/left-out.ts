// What packages load and the host never uses, or not at its start: left out of the bundles, or loaded at its first use. All of it would
// be a third of the worker, and a quarter of its start.
import type { OnResolveArgs, Plugin } from 'esbuild';

const NOTHING = 'module.exports = {};';
const SILENT = 'module.exports = () => () => {};';

interface Instead {
  /** Whose import of it is meant; left out: everybody's. */
  readonly of?: RegExp;
  readonly contents: string;
}

const INSTEAD: Readonly<Record<string, Instead>> = {
  // Of Express: bodies are read as bytes first and then strictly, queries and files by code of our own, and types are named by whoever answers.
  'body-parser': { contents: NOTHING },
  qs: { contents: NOTHING },
  send: { contents: NOTHING },
  'serve-static': { contents: NOTHING },
  'mime-db': { contents: NOTHING },
  // What Express would print for its own developers. To know who asks, each of them takes a stack apart while it is loaded.
  depd: { contents: SILENT },
  debug: { contents: SILENT },
  // Clients of ws may speak TLS; there are none here.
  https: { of: /\/ws\//, contents: `module.exports = { get request() { return require('node:https').request; } };` },
  tls: { of: /\/ws\//, contents: `module.exports = { get connect() { return require('node:tls').connect; } };` },
  // Default metrics, push gateway, cluster and what they load.
  'prom-client': {
    contents: `exports.Registry = require('prom-client/lib/registry.js'); exports.Counter = require('prom-client/lib/counter.js');
exports.Gauge = require('prom-client/lib/gauge.js'); exports.Histogram = require('prom-client/lib/histogram.js');`,
  },
};

const NAMES = new RegExp(`^(${Object.keys(INSTEAD).join('|')})$`);

export const leftOut: Plugin = {
  name: 'left-out',
  setup(build) {
    build.onResolve({ filter: NAMES }, ({ path, importer, resolveDir }: OnResolveArgs) => {
      const isMeant = INSTEAD[path]?.of?.test(importer) ?? true;
      return isMeant ? { path, namespace: 'left-out', pluginData: resolveDir } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path, pluginData }) => ({
      contents: INSTEAD[path]?.contents ?? NOTHING,
      loader: 'js',
      resolveDir: String(pluginData),
    }));
  },
};
