// What the published programs are made of: no failpoint, no package that is not installed with them, a bare supervisor.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PLANTS } from '../kits/crash/kit/kill-plan.ts';
import { ROOT, sourceFiles } from './source-tree.ts';

const DIST = join(ROOT, 'dist');
/** Import and export declarations, `import()` and `require()`, minified or not. */
const SPECIFIER =
  /(?:^|[;}\n])(?:import|export)\b[^"'();=]*?\bfrom\s*["']([^"'\n]+)["']|(?:^|[;}\n])import\s*["']([^"'\n]+)["']|\b(?:import|require)\(["']([^"'\n]+)["']\)/g;

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly bin: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly exports: Record<string, string | Record<string, string>>;
};
const read = (name: string): string => readFileSync(join(DIST, name), 'utf8');
/** Packages that a file imports, without subpaths. */
const packagesOf = (file: string): string[] =>
  [...read(file).matchAll(SPECIFIER)]
    .map(([, a, b, c]) => a ?? b ?? c ?? '')
    .filter((name) => /^[@a-z]/.test(name) && !name.startsWith('node:') && !builtinModules.includes(name))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );
const scripts = (folder: string): string[] =>
  readdirSync(join(DIST, folder), { encoding: 'utf8' })
    .filter((name) => /\.[cm]?js$/.test(name))
    .map((name) => join(folder, name));

/** The schema of the configuration is one. */
const LONGEST_LINE = 24_000;

/** A call of the failpoint of this name. */
const call = (name: string): RegExp => new RegExp(`point\\??\\.?\\(\\s*["'\`]${name.replaceAll('.', '\\.')}`);

/** Scripts that a worker loads later, in a process that has the worker: what each of them imports is there. */
const LOAD_ALL = `require('./worker-main.cjs');
  const scripts = require('node:fs').readdirSync('.').filter((name) => /^(adapter-.*|alerts|express|jobs|workroom|recovery|acceptance|encodings)\\.cjs$/.test(name));
  const files = scripts.flatMap((name) => Object.entries(require('./' + name)).filter(([file]) => file.endsWith('.ts')));
  Promise.all(files.map(([, load]) => load())).then((all) => console.log(scripts.length, all.every((one) => Object.keys(one).length > 0)));`;

describe('the bundles', () => {
  it('load later what few hosts need, with what the worker holds', () => {
    const told = execFileSync(process.execPath, ['-e', LOAD_ALL], { cwd: DIST, encoding: 'utf8' });
    const [scripts, isWhole] = told.trim().split(' ');
    assert.ok(Number(scripts) > 10);
    assert.equal(isWhole, 'true');
  });

  it('are all there', () => {
    const wanted = [
      'cli.js',
      'cli-main.cjs',
      'supervisor.cjs',
      'worker.js',
      'worker-main.cjs',
      'task.mjs',
      'code-check.mjs',
      'checkpoint-check.mjs',
      'writer-thread.js',
      'copy-child.js',
      'finish-child.js',
      'check-thread.js',
    ];

    assert.deepEqual(
      wanted.filter((name) => !existsSync(join(DIST, name))),
      [],
    );
    assert.deepEqual(
      wanted.filter((name) => !existsSync(join(DIST, 'failpoints', name))),
      [],
    );
  });

  it('are in lines where what they throw is shown with its line: in the tests of plugins and adapters', () => {
    // Chunks of earlier builds may lie beside them.
    const chunks = [...read('testing/index.js').matchAll(/from "\.\/(chunk-\w+\.js)"/g)].map(([, name = '']) => name);
    const longest = ['index.js', ...chunks].map((name) => {
      const lines = read(join('testing', name)).split('\n');
      return [name, Math.max(...lines.map((line) => line.length))] as const;
    });

    assert.ok(chunks.length > 0);
    assert.deepEqual(
      longest.filter(([, length]) => length > LONGEST_LINE),
      [],
    );
  });

  it('hold no failpoint as published, and every failpoint in the build for tests', () => {
    const named = sourceFiles(['worker']).flatMap(({ text }) =>
      [...text.matchAll(/FAILPOINTS\b[^\n]*\bpoint\??\.?\(\s*['`]([\w.:-]+)/g)].map(([, name = '']) => name),
    );
    const published = scripts('.')
      .map((name) => read(name))
      .join('\n');
    const tested = scripts('failpoints')
      .map((name) => read(name))
      .join('\n');

    assert.ok(named.length > 0, 'the sources name failpoints');
    assert.deepEqual(
      named.filter((name) => call(name).test(published)),
      [],
    );
    assert.deepEqual(
      named.filter((name) => !call(name).test(tested)),
      [],
    );
    assert.doesNotMatch(published, /\bpoint\??\.?\(\s*["'`]/);
    const planted = Object.keys(PLANTS).map((name) => `planted("${name}")`);
    assert.deepEqual(
      planted.filter((name) => published.includes(name) || !tested.includes(name)),
      [],
      'planted faults are in the build for tests alone',
    );
  });

  it('give the supervisor nothing but node: modules', () => {
    assert.deepEqual(packagesOf('supervisor.cjs'), []);
  });

  it('import only packages that are installed with them', () => {
    const installed = new Set([...Object.keys(manifest.dependencies), 'svc', 'bufferutil', 'utf-8-validate']);
    const sdk = readdirSync(join(DIST, 'sdk'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .map((name) => join('sdk', name));
    const missing = [...scripts('.'), ...sdk].flatMap((file) =>
      packagesOf(file)
        .filter((name) => !installed.has(name))
        .map((name) => `${file} imports ${name}`),
    );

    assert.deepEqual(missing, []);
  });

  it('make the command executable', () => {
    const path = join(ROOT, manifest.bin['svc'] ?? '');

    assert.match(readFileSync(path, 'utf8'), /^#!\/usr\/bin\/env node\n/);
    assert.equal(statSync(path).mode & 0o111, 0o111);
  });

  it('hold what package.json exports', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    );

    assert.deepEqual(
      targets.filter((target) => !existsSync(join(ROOT, target))),
      [],
    );
  });
});
