// Runs test files by suite, three processes at a time, and ends with node:test's closing lines. The files are bundled first
// (.ci/build/tests.ts) and run by plain Node. A file has a process of its own, but those of the suites that ask little of
// one share it: to start and load takes longer than most of them.
//
//   node --import tsx test/run.ts [suite | file]… [--summary FILE] [--concurrency N] [--timeout MINUTES]
//
// A suite is a folder of test/: every *.test.ts below it. Without one: those of `npm test`. Fails when a test fails and
// when no test ran.
import { setMaxListeners } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Output } from '../.ci/build/output.ts';
import { buildTests, builtTest } from '../.ci/build/tests.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const DEFAULT_SUITES = [
  'rules',
  'unit',
  'contract',
  'host',
  'process/daemon',
  'process/host',
  'process/cli',
  'process/browser',
  'kits/crash',
];
const SHARING = ['rules', 'unit', 'contract', 'host'];
/** So that no process runs on alone when the others have ended. */
const FILES_OF_A_PROCESS = 16;
const CLOSING_LINE = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/;
const MINUTE_MS = 60_000;
/** So many of the files are told of, in the summary. */
const SLOWEST = 40;
const LAST_WORDS = 1_000;
const MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 1024 ** 3;

/** Results that were written elsewhere than to the runner are not counted: such a process fails. */
const GUARD = `const { write } = process.stdout;
process.once('exit', () => {
  if (process.stdout.write === write) return;
  process.stderr.write('stdout was taken from the runner: results are not counted\\n');
  process.exitCode = 1;
});
`;

interface Failure {
  readonly failureType?: string;
  readonly cause?: unknown;
  /** Of a process that failed as a whole. */
  readonly exitCode?: number | null;
  readonly signal?: string | null;
}

interface TestEnd {
  readonly file?: string;
  readonly nesting: number;
  readonly details: { readonly duration_ms: number };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    summary: { type: 'string' },
    // Of two cores: many files wait for processes, and another one works meanwhile.
    concurrency: { type: 'string', default: '3' },
    timeout: { type: 'string', default: '10' },
  },
});

const suites = positionals.length > 0 ? positionals : DEFAULT_SUITES.filter((suite) => existsSync(join(FOLDER, suite)));
const files = [...new Set(suites.flatMap(filesOf))];
const counts = new Map<string, number>();
const skips: string[] = [];
const failures: string[] = [];
const tookMs = new Map<string, number>();

// Those of `npm test` alone, so that a person waits less; the other suites and kits keep to a disk.
if (positionals.length === 0) process.env['TMPDIR'] ??= memoryFolder();

await buildTests(new Output());
// node:test hands the flags of this process down to the files, which need no loader.
process.execArgv.length = 0;
const together = mkdtempSync(join(tmpdir(), 'svc-tests-'));
process.on('exit', () => rmSync(together, { recursive: true, force: true }));
// A runner that is ended takes the processes of its files along.
const ended = new AbortController();
setMaxListeners(0, ended.signal); // each file listens to it
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
const events = run({
  files: processesOf(files),
  signal: ended.signal,
  concurrency: Number(values.concurrency),
  timeout: Number(values.timeout) * MINUTE_MS,
});
/** What the kits of `deploy/` say of a target, for the end of a long log. */
const targets: string[] = [];
events.on('test:diagnostic', ({ message }) => {
  if (message.startsWith('deploy: ')) targets.push(message);
  const [, name, value] = CLOSING_LINE.exec(message) ?? [];
  if (name !== undefined) counts.set(name, Number(value));
});
events.on('test:pass', ({ name, skip }) => {
  if (skip !== undefined && skip !== false) skips.push(`${name}: ${skip === true ? 'no reason given' : skip}`);
});
/** What each process wrote last, for one that ends with its tests passed. */
const words = new Map<string, string>();
const addWords = ({ file, message }: { readonly file?: string; readonly message: string }): void => {
  if (file !== undefined) words.set(file, `${words.get(file) ?? ''}${message}`.slice(-LAST_WORDS));
};
events.on('test:stderr', addWords).on('test:stdout', addWords);
// A test that failed and not only holds one that did: its name, its place and why, as one line, for the end of a long log.
events.on('test:fail', ({ name, file, details }) => {
  const { failureType, cause, exitCode, signal } = details.error as Failure;
  if (failureType === 'subtestsFailed') return;
  const ended =
    exitCode === undefined
      ? ''
      : ` (exit code ${exitCode}, signal ${signal}; its last words: ${words.get(file ?? '')})`;
  const why = `${messageOf(cause)}${ended}`.replace(/\s*\n\s*/g, ' | ').slice(0, 1_500);
  failures.push(`${file === undefined ? '' : `${sourceOf(file)}: `}${name}: ${why}`);
});
const addTime = ({ file, nesting, details }: TestEnd): void => {
  if (file === undefined || nesting > 0) return;
  const name = sourceOf(file);
  tookMs.set(name, (tookMs.get(name) ?? 0) + details.duration_ms);
};
events.on('test:pass', addTime).on('test:fail', addTime);
events.compose(new spec()).pipe(process.stdout);
await new Promise((resolve) => events.on('close', resolve).on('end', resolve));

for (const line of targets.toSorted()) console.log(line);
const count = (name: string): number => counts.get(name) ?? 0;
const passed = count('pass');
const failed = count('fail') + count('cancelled');
const skipped = count('skipped') + count('todo');
if (values.summary !== undefined)
  writeFileSync(
    values.summary,
    JSON.stringify({ suites, passed, failed, skipped, skips, failures, slowest: slowest() }),
  );
if (passed + failed === 0) console.error(`no test ran in: ${suites.join(', ') || 'test/'}`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/** A test file below test/, as it is written, by where node:test says that it ran. */
function sourceOf(file: string): string {
  const ran = relative(builtTest(FOLDER), file);
  return ran.startsWith('..') ? relative(FOLDER, file) : ran.replace(/\.js$/, '.ts');
}

/** A cause that came from the process of a file is not always an error here, only an object that has its message. */
function messageOf(cause: unknown): string {
  return String((cause as { readonly message?: unknown } | null | undefined)?.message ?? cause);
}

/** Where the time went: seconds by file, the longest first. */
function slowest(): Record<string, number> {
  const sorted = [...tookMs].sort(([, a], [, b]) => b - a);
  return Object.fromEntries(sorted.slice(0, SLOWEST).map(([file, ms]) => [file, Math.round(ms / 100) / 10]));
}

/** What to start for the files, in their order: a file itself, or one made here that imports several of a suite. */
function processesOf(all: readonly string[]): string[] {
  const sharing = new Map<string, string[]>();
  const starts: (readonly string[])[] = [];
  for (const file of all) {
    const suite = relative(FOLDER, file).split(sep)[0] ?? '';
    const open = sharing.get(suite);
    if (open !== undefined && open.length < FILES_OF_A_PROCESS) {
      open.push(file);
      continue;
    }
    const start = [file];
    if (SHARING.includes(suite)) sharing.set(suite, start);
    starts.push(start);
  }
  return starts.map((those, index) => (those.length === 1 ? builtTest(those.join()) : startOf(those, index)));
}

function startOf(those: readonly string[], index: number): string {
  const start = join(together, `${relative(FOLDER, those[0] ?? '').split(sep)[0]}-${index}.mjs`);
  const imports = those.map((file) => `import ${JSON.stringify(pathToFileURL(builtTest(file)).href)};\n`);
  const guard = join(together, 'guard.mjs');
  writeFileSync(guard, GUARD);
  writeFileSync(start, [`import ${JSON.stringify(pathToFileURL(guard).href)};\n`, ...imports].join(''));
  return start;
}

/** A folder in memory with room for all: there no test waits for a disk to sync, and a kill of a process leaves the same as on a disk. */
function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    accessSync(MEMORY, constants.W_OK | constants.X_OK);
    // Tests put programs of their own there; a container may mount it so that none runs.
    const runsNothing = / \/dev\/shm tmpfs \S*\bnoexec\b/.test(readFileSync('/proc/mounts', 'utf8'));
    return bavail * bsize >= ROOM_BYTES && !runsNothing ? MEMORY : tmpdir();
  } catch {
    return tmpdir(); // not Linux, or not for us
  }
}

function filesOf(name: string): string[] {
  const path = [join(FOLDER, name), name].find((candidate) => existsSync(candidate));
  if (path === undefined) {
    console.error(`no such suite: ${name}`);
    return [];
  }
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(path, file))
    .sort((a, b) => relative(FOLDER, a).localeCompare(relative(FOLDER, b)));
}
