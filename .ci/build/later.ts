// What a worker loads later: features and adapters that most hosts never use, and Express, for which no start waits. Each is a script of its own
// beside that of the worker, so that a start reads and keeps only what it needs. A file that both need is part of the worker alone, and the script takes it from there.
import { createHash } from 'node:crypto';
import { basename, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from 'esbuild';
import { ROOT } from './output.ts';

/** Folders that one script holds, with whatever they alone import. */
const SCRIPTS: readonly (readonly [folder: RegExp, name: (...parts: readonly string[]) => string])[] = [
  [/^worker\/adapters\/(?!sandbox\/)(\w+)\/index\.ts$/u, (name) => `adapter-${name}`],
  [/^worker\/(?:workroom|plugins\/work)\//u, () => 'workroom'],
  [/^(?:worker\/recovery|worker\/host\/recovery)\//u, () => 'recovery'],
  [/^worker\/host\/acceptance\//u, () => 'acceptance'],
  [/^worker\/alerts\//u, () => 'alerts'],
  [/^worker\/http\/express-app\.ts$/u, () => 'express'],
  [/^worker\/(?:jobs|plugins\/jobs)\//u, () => 'jobs'],
];

/** The script of a file that is imported later; undefined where it stays with the worker. */
function scriptOf(file: string): string | undefined {
  for (const [folder, name] of SCRIPTS) {
    const parts = folder.exec(file);
    if (parts !== null) return name(...parts.slice(1));
  }
  return undefined;
}

/** Entry files by script. */
type LaterScripts = Map<string, Set<string>>;

const ENTRY = 'entry';
const BESIDE = 'beside';
const HELD = 'held';
/** A function of the worker's script: what a file of the worker exports under a name. */
const PLACE = `globalThis["svc: held by the worker"]`;
/** A call of it in a finished script. */
const TAKEN = /globalThis\["svc: held by the worker"\]\("([^"]+)","([^"]+)"\)/g;
const LOADER = join(ROOT, 'shared/files/compiled-code.ts');

/** Stands for the digest of all these scripts until they are built: a worker takes no script of another build. */
const BUILD = 'svc-build-0000000000';

/** For the worker: an `import()` of such a file becomes one from its script. */
function importedFromBeside(scripts: LaterScripts): Plugin {
  return {
    name: 'imported-from-beside',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, kind, resolveDir, namespace }) => {
        const file = relative(ROOT, join(resolveDir, path));
        const script = kind === 'dynamic-import' && namespace !== ENTRY ? scriptOf(file) : undefined;
        if (script === undefined) return undefined;
        scripts.set(script, (scripts.get(script) ?? new Set()).add(file));
        return { path: file, namespace: BESIDE };
      });
      onLoad({ filter: /.*/, namespace: BESIDE }, ({ path }) => ({
        contents: `import { loadLater } from ${JSON.stringify(LOADER)};
export const then = (done, failed) => loadLater(__filename, ${JSON.stringify(`${scriptOf(path)}.cjs`)}, '${BUILD}')[${JSON.stringify(path)}]().then(done, failed);`,
        loader: 'js',
        resolveDir: ROOT,
      }));
    },
  };
}

/** Tables of encodings that Express asks for by name, half a megabyte: nothing that svc reads needs them. */
const ENCODINGS = 'encodings.cjs';

const encodingsBeside: Plugin = {
  name: 'encodings-beside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/encodings$/ }, ({ importer, kind }) =>
      kind === 'require-call' && /iconv-lite[\\/]lib[\\/]index\.js$/.test(importer)
        ? { path: `./${ENCODINGS}`, external: true }
        : undefined,
    );
  },
};

/** Files that are evaluated once the entry is: reached by imports alone. */
function filesAtStart({ inputs }: Metafile, entry: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const { path, kind, external } of inputs[file]?.imports ?? [])
      if (external !== true && kind !== 'dynamic-import') open.push(path);
  }
  return reached;
}

/** For a later script: files of `atStart` are those that the worker holds. */
function heldByTheWorker(atStart: ReadonlySet<string>): Plugin {
  return {
    name: 'held-by-the-worker',
    setup(own) {
      own.onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir, namespace, pluginData }) => {
        if (pluginData === HELD || kind === 'entry-point' || namespace === HELD || path.startsWith('node:'))
          return undefined;
        const found = await own.resolve(path, { kind, importer, resolveDir, namespace, pluginData: HELD });
        const file = relative(ROOT, found.path);
        if (found.external || found.errors.length > 0 || !atStart.has(file))
          return found.errors.length > 0 ? undefined : found;
        return { path: file, namespace: HELD, sideEffects: false };
      });
      own.onLoad({ filter: /.*/, namespace: HELD }, async ({ path }) => ({
        contents: await takenFromWorker(path),
        loader: 'js',
      }));
    },
  };
}

/** Each name by itself, so that the worker keeps only those that are used: an index of a package names all of it. */
async function takenFromWorker(file: string): Promise<string> {
  const taken = (name: string): string => `/* @__PURE__ */ ${PLACE}(${JSON.stringify(file)},${JSON.stringify(name)})`;
  const names = await exportsOf(file);
  if (names.length === 0) return `module.exports = ${taken('default')};`; // CommonJS
  // By other names inside: a package may export a `Symbol` of its own.
  return names
    .map((name, index) => `const held${index} = ${taken(name)};\nexport { held${index} as ${name} };`)
    .join('\n');
}

const known = new Map<string, Promise<readonly string[]>>();

function exportsOf(file: string): Promise<readonly string[]> {
  const asked = known.get(file);
  if (asked !== undefined) return asked;
  const answer = build({
    absWorkingDir: ROOT,
    entryPoints: [file],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    outdir: 'dist',
    logLevel: 'silent',
  }).then(({ metafile }) => Object.values(metafile.outputs)[0]?.exports ?? []);
  known.set(file, answer);
  return answer;
}

/** An entry that is no file. */
function writtenEntry(contents: string): Plugin {
  return {
    name: 'written-entry',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^entry$/ }, () => ({ path: ENTRY, namespace: ENTRY }));
      onLoad({ filter: /.*/, namespace: ENTRY }, () => ({ contents, resolveDir: ROOT, loader: 'ts' }));
    },
  };
}

interface Worker {
  readonly name: string;
  readonly entry: string;
  readonly options: BuildOptions;
  /** Of the worker and of what it loads later. */
  readonly plugins: readonly Plugin[];
}

/** Builds the script of the worker and those beside it. */
export async function buildWithLater({ name, entry, options, plugins }: Worker): Promise<readonly Built[]> {
  const scripts: LaterScripts = new Map();
  const all = [encodingsBeside, importedFromBeside(scripts), ...plugins];
  const make = (script: string, contents: string, more: readonly Plugin[]) =>
    build({
      ...options,
      write: false,
      entryPoints: { [script]: ENTRY },
      plugins: [writtenEntry(contents), ...all, ...more],
    });
  const { metafile } = await build({
    ...options,
    write: false,
    metafile: true,
    entryPoints: { [name]: entry },
    plugins: all,
  });
  const atStart = filesAtStart(metafile, entry);
  const encodings = await build({
    ...options,
    write: false,
    entryPoints: { [basename(ENCODINGS, '.cjs')]: 'iconv-lite/encodings/index.js' },
  });
  // A script may ask for files of another one.
  for (let made: readonly OutputFile[] = [], asked = -1; ; ) {
    const count = [...scripts.values()].reduce((sum, files) => sum + files.size, 0);
    if (count === asked)
      return [
        ...encodings.outputFiles,
        ...named([...made, ...(await make(name, holdingEntry(entry, takenBy(made)), [])).outputFiles]),
      ];
    asked = count;
    const results = [...scripts].map(([script, files]) => make(script, laterEntry(files), [heldByTheWorker(atStart)]));
    made = (await Promise.all(results)).flatMap(({ outputFiles }) => outputFiles);
  }
}

interface Built {
  readonly path: string;
  readonly contents: Uint8Array;
}

/** With the digest of all of them in its places. */
function named(files: readonly Built[]): readonly Built[] {
  const hash = createHash('sha256');
  for (const { contents } of files) hash.update(contents);
  const id = hash.digest('hex').slice(0, BUILD.length);
  return files.map(({ path, contents }) => ({
    path,
    contents: Buffer.from(Buffer.from(contents).toString('latin1').replaceAll(BUILD, id), 'latin1'),
  }));
}

/** Names by file. */
type Held = ReadonlyMap<string, ReadonlySet<string>>;

function takenBy(scripts: readonly OutputFile[]): Held {
  const held = new Map<string, Set<string>>();
  for (const { path, text } of scripts) {
    if (!path.endsWith('.cjs')) continue;
    for (const [, file = '', name = ''] of text.matchAll(TAKEN))
      held.set(file, (held.get(file) ?? new Set()).add(name));
  }
  return held;
}

/** The program, and what it holds for others. */
function holdingEntry(entry: string, held: Held): string {
  const files = [...held].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const names = files.map(([file, used], index) => ({
    file,
    names: [...used].toSorted().map((name, at) => [name, `held${index}_${at}`] as const),
  }));
  const imports = names.map(
    (one) =>
      `import { ${one.names.map(([name, own]) => `${name} as ${own}`).join(', ')} } from ${JSON.stringify(`./${one.file}`)};`,
  );
  const rows = names.map(
    (one) => `${JSON.stringify(one.file)}: { ${one.names.map(([name, own]) => `${name}: ${own}`).join(', ')} }`,
  );
  return [
    `export * from './${entry}';`,
    ...imports,
    `let table;`,
    // Made at the first question: a start has nothing of it.
    `${PLACE} = (file, name) => (table ??= { ${rows.join(', ')} })[file][name];`,
  ].join('\n');
}

/** An import for each file that others ask for. */
const laterEntry = (files: ReadonlySet<string>): string =>
  [
    `exports.build = '${BUILD}';`,
    ...[...files].toSorted().map((file) => `exports[${JSON.stringify(file)}] = () => import('./${file}');`),
  ].join('\n');
