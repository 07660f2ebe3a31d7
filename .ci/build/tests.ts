// The tests as bundles in dist/test/, so that plain Node runs them: to load the sources through a loader takes each process
// seconds of CPU. A file keeps the address of its source (`import.meta.url`), so that fixtures are found beside it. Those that start
// a thread or a process are as if they lay among the programs that were built.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { DIST, type Output, ROOT } from './output.ts';
import { compiledValidator } from './validator.ts';

const TESTS = join(ROOT, 'test');
const OUT = join(DIST, 'test');
const PROGRAMS = join(DIST, 'failpoints');
/** Start a thread or process by the address of their own file: where the file to start lies beside them. */
const STARTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'worker/database/sqlite/start-thread.ts': OUT,
    'worker/recovery/checkpoint/copy-database.ts': OUT,
    'worker/recovery/checkpoint/check-beside.ts': OUT,
    'worker/recovery/checkpoint/make-running.ts': PROGRAMS,
    'worker/recovery/in-child.ts': PROGRAMS,
    'worker/runtime/loading/next-code.ts': PROGRAMS,
    'supervisor/cli/start/worker-entry.ts': PROGRAMS,
  }).map(([file, folder]) => [join(ROOT, file), join(folder, 'starter.js')]),
);

/** Packages of many files, which are a part of the bundles: to find and load their files takes a process longer than most tests. */
const INSIDE: ReadonlySet<string> = new Set([
  'express',
  'express-rate-limit',
  'fast-check',
  'kysely',
  'pino',
  'prom-client',
  'typebox',
  'ws',
  'yaml',
]);
/** For those of them that are CommonJS. */
const BANNER =
  "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);";

/** Where the bundle of a test file lies. */
export const builtTest = (file: string): string => join(OUT, relative(TESTS, file).replace(/\.ts$/, '.js'));

export async function buildTests(output: Output): Promise<void> {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(TESTS, name));
  const names = files.map((file) => relative(TESTS, file).replace(/\.ts$/, ''));
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    outdir: OUT,
    entryPoints: {
      ...Object.fromEntries(names.map((name, index) => [name, files[index] ?? ''])),
      'writer-thread': join(ROOT, 'worker/database/sqlite/writer-thread.ts'),
      'copy-child': join(ROOT, 'worker/recovery/checkpoint/copy-child.ts'),
      'check-thread': join(ROOT, 'worker/recovery/checkpoint/check-thread.ts'),
    },
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    banner: { js: BANNER },
    define: ADDRESS,
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    charset: 'utf8',
    write: false,
    logLevel: 'silent',
    plugins: [sdkFromSources, packagesOutside, compiledValidator, addressOfSource],
  });
  output.write('test/package.json', '{"type":"module"}\n');
  for (const { path, contents } of outputFiles) output.write(relative(DIST, path), contents);
}

/** `svc` and `svc/testing`, which plugins of tests import, are the sources here. */
const sdkFromSources: Plugin = {
  name: 'sdk-from-sources',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^svc$/ }, () => ({ path: join(ROOT, 'worker/sdk/index.ts') }));
    onResolve({ filter: /^svc\/testing$/ }, () => ({ path: join(ROOT, 'worker/testing/index.ts') }));
  },
};

/** Leaves all other packages where they are installed. What a package that is inside needs itself is inside as well. */
const packagesOutside: Plugin = {
  name: 'packages-outside',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      const isInside = INSIDE.has(path.split('/')[0] ?? '') || importer.includes('/node_modules/');
      return kind === 'entry-point' || isInside ? undefined : { path, external: true };
    });
  },
};

/** Put in front of a file that asks for its own address; `define` leads the question there. */
const ADDRESS = { 'import.meta.url': '__url', 'import.meta.dirname': '__dirname_of_source' } as const;

const addressOfSource: Plugin = {
  name: 'address-of-source',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!Object.keys(ADDRESS).some((name) => text.includes(name))) return undefined;
      const url = pathToFileURL(STARTERS.get(path) ?? path);
      const values = { __url: url.href, __dirname_of_source: dirname(path) };
      const front = Object.entries(values).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`);
      return { contents: front.join('') + text, loader: 'ts' };
    });
  },
};
