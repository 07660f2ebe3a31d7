// Tests with coverage: of the sources as tests load them, and of the bundles that tests start as processes, mapped back to the sources.
//
//   node --import tsx .ci/coverage.ts [suite]… [--of FOLDER]
//
// With --of, of tests that have run, with NODE_V8_COVERAGE naming that folder; else it runs them.
// Fails when a test fails, or when fewer lines are covered than package.json (`c8`) asks for. Files without code that runs (types) are left
// out; every other one counts, loaded or not.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { transformSync } from 'esbuild';
import { ROOT } from './build/output.ts';

const SUITES = ['unit', 'contract', 'host', 'process/daemon', 'process/host', 'process/cli'];
const FOLDERS = ['shared', 'supervisor', 'worker'];

/** As Node writes it, by the variable NODE_V8_COVERAGE. */
interface Raw {
  readonly result: readonly ScriptCoverage[];
  readonly 'source-map-cache'?: Readonly<Record<string, CachedMap>>;
}
interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}
interface CachedMap {
  readonly data: {
    readonly sources: readonly string[];
    readonly sourcesContent?: readonly string[];
    readonly sourceRoot?: string;
  } | null;
  readonly url?: string;
  readonly lineLengths?: readonly number[];
}

const OWN = [...FOLDERS, 'dist'].map((folder) => `${pathToFileURL(join(ROOT, folder)).href}/`);
const isOwn = (url: string): boolean => OWN.some((folder) => url.startsWith(folder)) && !url.endsWith('.json');

const { values, positionals } = parseArgs({ allowPositionals: true, options: { of: { type: 'string' } } });

const raw = values.of ?? mkdtempSync(join(tmpdir(), 'svc-coverage-'));
const suites = positionals.length > 0 ? positionals : SUITES;
const tests =
  values.of === undefined ? run(['--import', 'tsx', 'test/run.ts', ...suites], { NODE_V8_COVERAGE: raw }) : 0;
/** What several processes have had is written once: the processes of one program have much the same. */
const seen = new Set<string>();
for (const name of readdirSync(raw)) trim(join(raw, name));
const { c8 } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { c8: { exclude: string[] } };
const excludes = [...c8.exclude, ...withoutCode()].flatMap((file) => ['--exclude', file]);
const report = run(['node_modules/c8/bin/c8.js', 'report', '--temp-directory', raw, ...excludes]);
rmSync(raw, { recursive: true, force: true });
process.exitCode = tests === 0 ? report : tests;

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): number {
  const { status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  return status ?? 1;
}

/** Of a process only what it ran of this project: the rest is many times as much, and would be mapped for nothing. */
function trim(file: string): void {
  let raw: Raw;
  try {
    raw = JSON.parse(readFileSync(file, 'utf8')) as Raw;
  } catch {
    rmSync(file); // its process was killed while it wrote
    return;
  }
  const scripts = raw.result
    .map(asFile)
    .filter(({ url }) => isOwn(url) && existsSync(new URL(url)))
    .map(withNewAlone);
  const maps = Object.entries(raw['source-map-cache'] ?? {}).filter(
    ([url, { data }]) => isOwn(url) && (data === null || isNew(url)),
  );
  const compiled = scripts
    .filter(({ url }) => url.endsWith('.cjs') && isNew(url))
    .map(({ url }) => [url, mapOf(url)] as const);
  const all = [...maps, ...compiled].map(([url, map]) => [url, withSources(url, map)] as const);
  writeFileSync(file, JSON.stringify({ ...raw, result: scripts, 'source-map-cache': Object.fromEntries(all) }));
}

/** Without the functions that another process ran in the same places: a line counts as covered, however often it ran. */
function withNewAlone(script: ScriptCoverage): ScriptCoverage {
  const places = ({ ranges }: ScriptCoverage['functions'][number]): string =>
    ranges.map(({ startOffset, endOffset, count }) => `${startOffset}-${endOffset}${count > 0 ? '+' : ''}`).join();
  return { ...script, functions: script.functions.filter((one) => isNew(`${script.url} ${places(one)}`)) };
}

function isNew(what: string): boolean {
  const before = seen.size;
  return seen.add(what).size > before;
}

/** The worker's program is a script with a path for its name, in a wrapper, on Node 20: its places are those of the file. */
function asFile(script: ScriptCoverage): ScriptCoverage {
  if (!script.url.startsWith('/')) return script;
  const ahead = module.wrap('|').indexOf('|');
  const place = (at: number): number => Math.max(0, at - ahead);
  const functions = script.functions.map((one) => ({
    ...one,
    ranges: one.ranges.map((range) => ({
      ...range,
      startOffset: place(range.startOffset),
      endOffset: place(range.endOffset),
    })),
  }));
  return { ...script, url: pathToFileURL(script.url).href, functions };
}

/** As Node would have kept it. */
function mapOf(url: string): CachedMap {
  const text = readFileSync(new URL(url), 'utf8');
  const data = JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')) as CachedMap['data'];
  return { data, url: `${url}.map`, lineLengths: text.split('\n').map(({ length }) => length) };
}

/** With the texts of the sources: c8 looks for that of a bundle with a single one in the wrong place, and leaves it out. */
function withSources(url: string, map: CachedMap): CachedMap {
  if (map.data === null) return map;
  const sources = map.data.sources.map((source) => {
    const place = new URL(source, url);
    return place.protocol === 'file:' ? fileURLToPath(place) : source; // some are made while building
  });
  const sourcesContent = sources.map((source) => (existsSync(source) ? readFileSync(source, 'utf8') : ''));
  return { ...map, data: { ...map.data, sourceRoot: '', sources, sourcesContent } };
}

/** Files that hold types alone. */
function withoutCode(): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => join(ROOT, folder, name))
      .filter((file) => {
        const { code } = transformSync(readFileSync(file, 'utf8'), { loader: 'ts', minifyWhitespace: true });
        return code.trim() === '';
      })
      .map((file) => relative(ROOT, file)),
  );
}
