// The programs of svc as bundles. The supervisor and the writer thread are one script each. The worker and the CLI keep what they
// load lazily (adapters, rare features; most commands) beside themselves, so that `import.meta.url` is the
// same folder everywhere. What stays outside is installed with the package: the native addon,
// packages that load files of their own at run time, and the loader of TypeScript plugins.
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type OnResolveResult, type Plugin } from 'esbuild';
import {
  importsThroughLoader,
  loadedLater,
  SCRIPT_BANNER,
  SCRIPT_DEFINES,
  throughLoader,
  workerRequired,
} from './command.ts';
import { buildWithLater } from './later.ts';
import { type Output, ROOT } from './output.ts';
import { plants } from './plants.ts';
import { pluginValidators } from './plugin-validators.ts';
import { commit } from './stamp.ts';
import { compiledValidator } from './validator.ts';

/** Entries that the bundle of another program reaches by file name. */
const OTHER_PROGRAMS: Readonly<Record<string, string>> = {
  'worker/main.ts': './worker.js',
  'worker/task.ts': './task.mjs',
};

interface Program {
  /** Below dist/; a folder of its own for what may hold failpoints. */
  readonly folder?: string;
  /** Failpoints are part of it: the test host kills at them. */
  readonly failpoints?: true;
  readonly entries: Readonly<Record<string, string>>;
  /**
   * Loads `node:` modules alone, in one file, as CommonJS: Node's loader of ES modules and its threads are 2.5 MB of a process that
   * stays for as long as the host does.
   */
  readonly bare?: boolean;
  /** One file of CommonJS each: Node's loader of ES modules is 5 ms of a start. */
  readonly script?: boolean;
  /** One file of CommonJS: its compiled code can be kept as a whole (compiled-code.ts). What few hosts load is beside it (later.ts). */
  readonly whole?: boolean;
  /** The command: one file for short answers, the others beside it; names other programs by file instead of holding them. */
  readonly command?: boolean;
}

const PROGRAMS: readonly Program[] = [
  { entries: { 'cli-main': 'supervisor/cli/main.ts' }, command: true },
  { entries: { supervisor: 'supervisor/main.ts' }, bare: true },
  { entries: { cli: 'supervisor/cli/built-main.ts' }, script: true },
  {
    entries: {
      worker: 'worker/process/built-main.ts',
      'writer-thread': 'worker/database/sqlite/writer-thread.ts',
      'copy-child': 'worker/recovery/checkpoint/copy-child.ts',
      'finish-child': 'worker/recovery/checkpoint/finish-child.ts',
      'check-thread': 'worker/recovery/checkpoint/check-thread.ts',
    },
    script: true,
  },
  { entries: { 'worker-main': 'worker/main.ts' }, whole: true },
  {
    entries: {
      task: 'worker/task.ts',
      'code-check': 'worker/process/code-check.ts',
      'checkpoint-check': 'worker/process/checkpoint-check.ts',
    },
  },
  {
    entries: { index: 'worker/testing/index.ts', 'host-guard': 'worker/testing/host-guard.ts' },
    folder: 'testing',
    failpoints: true,
  },
];

const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
/** Installed with the package, and yet a part of the bundles as well: the little that is used of it, without a search for files. */
const INSIDE_TOO = new Set(['typebox']);
/** What is installed with the package, and what may be. */
const OUTSIDE = [
  ...Object.keys(dependencies).filter((name) => !INSIDE_TOO.has(name)),
  'better-sqlite3-13',
  'esbuild',
  'svc',
  'bufferutil',
  'utf-8-validate',
];

const BANNER = [
  "import __module, { createRequire as __createRequire } from 'node:module';",
  "import { dirname as __dirnameOf } from 'node:path';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url), __filename = __fileURLToPath(import.meta.url), __dirname = __dirnameOf(__filename);',
].join('');

/** The programs that have to start fast are scripts; whatever is imported is a module, named so or in a folder of such. */
const TYPES = { '.': 'commonjs', sdk: 'module', testing: 'module' } as const;

/** Every program twice: as published, and with failpoints in dist/failpoints/ (tests only, not published). */
export async function buildPrograms(output: Output): Promise<void> {
  const constants = { SVC_VERSION: JSON.stringify(version), SVC_COMMIT: JSON.stringify(commit()) };
  const jobs = PROGRAMS.flatMap((program) =>
    buildsOf(program).map((failpoints) => ({ program, failpoints, constants })),
  );
  for (const [folder, type] of Object.entries(TYPES))
    output.write(join(folder, 'package.json'), `{"type":"${type}"}\n`);
  const failures: string[] = [];
  for (const job of jobs) {
    try {
      await buildProgram(output, job);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (failures.length > 0) throw new Error([...new Set(failures)].join('\n'));
}

/** Without and with failpoints. */
const buildsOf = ({ failpoints }: Program): readonly boolean[] => (failpoints === true ? [true] : [false, true]);

interface Job {
  readonly program: Program;
  readonly failpoints: boolean;
  readonly constants: Readonly<Record<string, string>>;
}

async function buildProgram(output: Output, job: Job): Promise<void> {
  const { program, failpoints, constants } = job;
  if (program.command === true) return buildCommand(output, job);
  if (program.whole === true) return buildWhole(output, job);
  const entries = Object.entries(program.entries).filter(([, path]) => existsSync(join(ROOT, path)));
  const absent = Object.values(program.entries).filter((path) => !existsSync(join(ROOT, path)));
  if (absent.length > 0 && !failpoints) console.log(`skipped: ${absent.join(', ')} (no such file yet)`);
  if (entries.length === 0) return;
  const folder = program.folder ?? (failpoints ? 'failpoints' : '');
  const result = await build({
    ...OPTIONS,
    outdir: join(ROOT, 'dist', folder),
    entryPoints: Object.fromEntries(entries),
    ...formOf(program),
    // Node shows the line of what nobody caught.
    minifyWhitespace: program.folder !== 'testing',
    define: { ...constants, ...(isScript(program) ? SCRIPT_DEFINES : {}), FAILPOINTS: String(failpoints) },
    plugins: [
      // Of what is published nothing is planted, not even in its tests of plugins.
      ...(failpoints && program.failpoints !== true ? [plants] : []),
      ...PLUGINS,
    ],
  });
  if (program.bare === true) assertBare(result.metafile, Object.values(program.entries));
  for (const file of result.outputFiles) {
    const name = basename(file.path);
    output.write(join(folder, name), file.contents, { executable: name === 'cli.js' });
  }
}

/** The worker, and beside it what it loads later. */
async function buildWhole(output: Output, { program, failpoints, constants }: Job): Promise<void> {
  const folder = failpoints ? 'failpoints' : '';
  const plugins = [importsThroughLoader(OUTSIDE), ...(failpoints ? [plants] : []), ...PLUGINS];
  const options = {
    ...OPTIONS,
    ...formOf(program),
    outdir: join(ROOT, 'dist', folder),
    define: { ...constants, ...SCRIPT_DEFINES, FAILPOINTS: String(failpoints) },
  };
  for (const [name, entry] of Object.entries(program.entries))
    for (const { path, contents } of await buildWithLater({ name, entry, options, plugins }))
      output.write(join(folder, basename(path)), contents);
}

/** What the command holds itself, then what it left outside. */
async function buildCommand(output: Output, { program, failpoints, constants }: Job): Promise<void> {
  const later = new Map<string, string>();
  const folder = failpoints ? 'failpoints' : '';
  const options = {
    ...OPTIONS,
    outdir: join(ROOT, 'dist', folder),
    define: { ...constants, FAILPOINTS: String(failpoints) },
  };
  const own = await build({
    ...options,
    entryPoints: program.entries,
    ...formOf({ ...program, whole: true }),
    define: { ...options.define, ...SCRIPT_DEFINES },
    plugins: [
      workerRequired,
      importsThroughLoader(OUTSIDE),
      ...PLUGINS,
      programsApart(throughLoader),
      loadedLater(later),
    ],
  });
  const others = await build({
    ...options,
    entryPoints: Object.fromEntries(later),
    splitting: true,
    outExtension: { '.js': '.mjs' },
    banner: { js: BANNER },
    plugins: [...PLUGINS, programsApart((path) => ({ path, external: true }))],
  });
  for (const { path, contents } of [...own.outputFiles, ...others.outputFiles])
    output.write(join(folder, basename(path)), contents);
}

const isScript = ({ script, whole }: Program): boolean => script === true || whole === true;

function formOf({
  bare,
  folder,
  script,
  whole,
}: Program): Pick<BuildOptions, 'format' | 'outExtension' | 'splitting' | 'banner' | 'charset'> {
  const cjs = { format: 'cjs', outExtension: { '.js': '.cjs' } } as const;
  if (bare === true) return cjs;
  if (whole === true) return { ...cjs, charset: 'ascii', banner: { js: SCRIPT_BANNER } };
  if (script === true) return { format: 'cjs', banner: { js: `"use strict";${SCRIPT_BANNER}` } };
  const modules = { splitting: true, banner: { js: BANNER } };
  return folder === undefined ? { ...modules, outExtension: { '.js': '.mjs' } } : modules;
}

const OPTIONS = {
  absWorkingDir: ROOT,
  outdir: join(ROOT, 'dist'),
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  external: OUTSIDE.flatMap((name) => [name, `${name}/*`]),
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  charset: 'utf8',
  metafile: true,
  write: false,
  logLevel: 'silent',
  logOverride: { 'import-is-undefined': 'error' },
} as const satisfies BuildOptions;

const PLUGINS: Plugin[] = [compiledValidator, pluginValidators];

/** The CLI starts worker entries as files of their own, in its process or as a child. */
const programsApart = (asFile: (file: string) => OnResolveResult): Plugin => ({
  name: 'programs-apart',
  setup(build) {
    build.onResolve({ filter: /worker\/(main|task)\.ts$/ }, ({ path }) => {
      const file = OTHER_PROGRAMS[path.replace(/^(\.\.?\/)+/, '')];
      return file === undefined ? undefined : asFile(file);
    });
  },
});

function assertBare({ outputs }: Metafile, entries: readonly string[]): void {
  const imports = Object.values(outputs).flatMap((file) => file.imports.map(({ path }) => path));
  const foreign = imports.filter((path) => !builtinModules.includes(path.replace(/^node:/, '')));
  const packages = Object.values(outputs)
    .flatMap((file) => Object.keys(file.inputs))
    .filter((path) => path.includes('node_modules/'));
  if (foreign.length + packages.length === 0) return;
  throw new Error(
    `${entries.join(', ')} must load node: modules alone, but its bundle reaches ${[...new Set([...foreign, ...packages])].join(', ')}`,
  );
}
