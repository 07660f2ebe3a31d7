// The tests on other versions of Node, each taken from npm's `node` package, with an installation of its own: the SQLite
// binding belongs to one ABI. The tree is copied as git sees it, so that a file that is not committed is still tested. The first version
// builds it; the others run the programs of this tree, if they are built, as those who install them do.
//
//   npm run matrix [-- --versions 20.19.0,24] [--suites unit,host] [--short] [--seconds N] [--summary FILE]
//
// --suites are run on the first version (default: those of `npm test`) and on the others; with --short the others run only
// SHORT. With --seconds, a version that can no longer be finished is skipped with a line, but never the first.
// --install FOLDER only installs and builds each version there, and --installed FOLDER runs the tests of what was installed:
// an installation waits for the network and the disk, so `.ci/run` does it beside steps that wait too.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { DIST, ROOT } from './build/output.ts';
import { fingerprint, isFresh } from './build/stamp.ts';
import { prebuiltBinding } from './prebuilt.ts';

interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly skips: readonly string[];
  readonly failures: readonly string[];
}

const SECOND_MS = 1_000;
/**
 * Where the version of Node matters: the native database and its files, sockets that are handed over, the framing of HTTP,
 * how processes start, end and are killed, the packed package, plugins in TypeScript.
 */
const SHORT = [
  'contract/database',
  'contract/recovery/moment.test.ts',
  'contract/samples',
  'kits/crash/kill.test.ts',
  'unit/supervisor/held-socket.test.ts',
  'unit/database/writer-lock.test.ts',
  'host/http/framing.test.ts',
  'host/http/pipelining.test.ts',
  'host/http/bodies/bodies.test.ts',
  'host/http/drain.test.ts',
  'host/inherited-socket.test.ts',
  'host/events/websocket.test.ts',
  'host/watch.test.ts',
  'process/daemon/supervisor.test.ts',
  'process/daemon/daemon-start.test.ts',
  'process/daemon/foreground-life.test.ts',
  'process/daemon/held-socket.test.ts',
  'process/host/kept-code.test.ts',
  'process/daemon/parent-death.test.ts',
  'process/host/raw-crash-text.test.ts',
  'process/daemon/replace-daemon.test.ts',
  'process/daemon/restart-broken-plugin.test.ts',
  'process/host/start-once.test.ts',
  'process/host/watch-host.test.ts',
  'process/package/pack.test.ts',
  'process/recovery/samples-host.test.ts',
];
const { values } = parseArgs({
  options: {
    versions: { type: 'string', default: '24,20.19.0,22.12.0' },
    suites: { type: 'string', default: '' },
    short: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '3600' },
    summary: { type: 'string' },
    install: { type: 'string' },
    installed: { type: 'string' },
  },
});

const versions = values.versions.split(',');
const kept = values.install ?? values.installed;
if (kept !== undefined) mkdirSync(kept, { recursive: true });
const work = kept ?? mkdtempSync(join(tmpdir(), 'svc-matrix-'));
chmodSync(work, 0o755); // some tests run as another user
const endsAt = performance.now() + Number(values.seconds) * SECOND_MS;
try {
  if (values.install === undefined) testAll();
  else installAll(Number(values.seconds) * SECOND_MS);
} finally {
  if (kept === undefined) rmSync(work, { recursive: true, force: true });
}

function installAll(limitMs: number): void {
  for (const version of versions) {
    const failed = install(version, limitMs);
    if (failed === undefined) continue;
    console.error(`Node ${version} is not installed: ${failed}`);
    process.exitCode = 1;
  }
}

function testAll(): void {
  const summaries: Summary[] = [];
  let longestMs = 0;
  for (const [index, version] of versions.entries()) {
    const leftMs = endsAt - performance.now();
    if (leftMs < longestMs) {
      const why = `Node ${version}: ${Math.round(leftMs / SECOND_MS)} s left, the last version took ${Math.round(longestMs / SECOND_MS)} s`;
      summaries.push({ passed: 0, failed: 0, skipped: 1, skips: [why], failures: [] });
      continue;
    }
    const startedAt = performance.now();
    const named = values.suites === '' ? [] : values.suites.split(',');
    const suites = index > 0 && values.short ? SHORT : named;
    summaries.push(testOn(version, { suites, limitMs: Math.round(leftMs) }));
    longestMs = Math.max(longestMs, performance.now() - startedAt);
  }
  if (values.summary !== undefined) writeFileSync(values.summary, JSON.stringify(summaries));
  process.exitCode = summaries.some(({ failed }) => failed > 0) ? 1 : 0;
}

interface Round {
  readonly suites: readonly string[];
  readonly limitMs: number;
}

function testOn(version: string, { suites, limitMs }: Round): Summary {
  const failure = (of: string): Summary => ({
    passed: 0,
    failed: 1,
    skipped: 0,
    skips: [],
    failures: [`Node ${version}: ${of}`],
  });
  if (!existsSync(builtMark(version))) {
    if (values.installed !== undefined) return failure('its installation failed');
    const failed = install(version, limitMs);
    if (failed !== undefined) return failure(failed);
  }
  const report = join(work, version, 'summary.json');
  const step = ['node', '--import', 'tsx', 'test/run.ts', ...suites, '--summary', report];
  const ran = timed(version, step, { cwd: treeOf(version), env: environmentOf(version), timeout: limitMs });
  if (!ran && !existsSync(report)) return failure(step.join(' '));
  const summary = JSON.parse(readFileSync(report, 'utf8')) as Summary;
  const { passed, failed, skipped, failures } = summary;
  console.log(`Node ${version}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  return { ...summary, failures: failures.map((text) => `Node ${version}: ${text}`) };
}

function treeOf(version: string): string {
  return join(work, version, 'svc');
}

/** There once everything of a version is installed and built. */
function builtMark(version: string): string {
  return join(work, version, 'built');
}

/** Returns the step that failed, undefined if none did. */
function install(version: string, limitMs: number): string | undefined {
  const folder = join(work, version);
  mkdirSync(folder, { recursive: true });
  const node = ['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', `node@${version}`];
  if (!timed(version, node, { cwd: folder })) return node.join(' ');
  copyTree(treeOf(version));
  const steps: (readonly string[])[] = [['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error']];
  if (version === versions[0] || !isFresh(fingerprint())) steps.push(['npm', 'run', '-s', 'build']);
  else copyPrograms(treeOf(version));
  const env = { ...environmentOf(version), ...prebuiltBinding(join(work, 'prebuilt')) };
  for (const step of steps)
    if (!timed(version, step, { cwd: treeOf(version), env, timeout: limitMs })) return step.join(' ');
  writeFileSync(builtMark(version), '');
  return undefined;
}

/** PATH begins with this version; native code is built against its own headers, and in half the time with less optimisation. */
function environmentOf(version: string): NodeJS.ProcessEnv {
  const installed = join(work, version, 'node_modules/node');
  const headers = join(installed, `node_modules/node-${process.platform}-${process.arch}`);
  return {
    ...process.env,
    PATH: [join(installed, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
    CFLAGS: '-O1',
    CXXFLAGS: '-O1',
    ...(existsSync(join(headers, 'include/node')) ? { npm_config_nodedir: headers } : {}),
  };
}

function copyTree(target: string): void {
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' });
  for (const name of listed.stdout.split('\0').filter((path) => path !== '' && existsSync(join(ROOT, path)))) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    cpSync(join(ROOT, name), join(target, name));
  }
}

function copyPrograms(target: string): void {
  const isOfTests = (path: string): boolean => /^(test|\.compile-cache)$/u.test(path.slice(DIST.length + 1));
  cpSync(DIST, join(target, 'dist'), { recursive: true, filter: (path) => !isOfTests(path) });
}

function timed(
  version: string,
  [command = '', ...args]: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv; timeout?: number },
): boolean {
  const startedAt = performance.now();
  const { status } = spawnSync(command, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
  const seconds = Math.round((performance.now() - startedAt) / SECOND_MS);
  console.log(
    `Node ${version}: ${[command, ...args.slice(0, 2)].join(' ')} ${status === 0 ? 'ok' : `FAILED (${status})`}, ${seconds} s`,
  );
  return status === 0;
}
