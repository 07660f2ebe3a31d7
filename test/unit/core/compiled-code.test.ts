// Kept code of a bundle: never used for another text, whole or not at all, and never needed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { build } from 'esbuild';
import { loadLater, loadProgram } from '../../../shared/files/compiled-code.ts';
import { WORKER_OPTIONS } from '../../../supervisor/cli/start/worker-entry.ts';

const OWN_CACHE = !('enableCompileCache' in (await import('node:module')).default);

/** A bundle in a folder of its own, and the file that its code is kept in. */
function bundle(t: { after(run: () => void): void }, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-code-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'program.cjs');
  writeFileSync(file, text);
  const kept = (): string[] =>
    readdirSync(join(folder, '.compile-cache')).map((name) => join(folder, '.compile-cache', name));
  return { file, kept, write: (other: string) => writeFileSync(file, other) };
}

const TEXT = 'exports.value = () => 1; exports.load = (name) => import(name);';

describe('a bundle with kept code', () => {
  it('runs the same from what was kept', async (t) => {
    const { file } = bundle(t, TEXT);
    const first = loadProgram<{ value(): number }>(file);
    first.exports.value();
    first.keep();

    const { exports } = loadProgram<{ value(): number; load(name: string): Promise<{ default: object }> }>(file);

    assert.equal(exports.value(), 1);
    assert.ok('join' in (await exports.load('node:path')).default);
  });

  it('imports packages, also where the bundle that loads it runs from what was kept', async (t) => {
    const inner = bundle(t, 'exports.load = (name) => (module.import ?? ((path) => import(path)))(name);');
    const { outputFiles } = await build({
      entryPoints: ['shared/files/compiled-code.ts'],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      write: false,
    });
    const { file } = bundle(t, outputFiles[0]?.text ?? '');
    // A process of its own each time: one alone would take the code from its memory.
    const code = `const program = require(${JSON.stringify(file)}).loadProgram(${JSON.stringify(file)});
      program.exports.loadProgram(${JSON.stringify(inner.file)}).exports.load('node:path').then((path) => {
        program.keep();
        console.log('join' in path);
      });`;

    const runs = [1, 2].map(() => spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' }));

    assert.deepEqual(
      runs.map(({ stdout, stderr }) => stdout + stderr),
      ['true\n', 'true\n'],
    );
  });

  it('is what its text says, also when only that changed and not its length', {
    skip: !OWN_CACHE && 'Node keeps the code itself',
  }, (t) => {
    const { file, write } = bundle(t, TEXT);
    loadProgram(file).keep();
    write(TEXT.replace('1', '2'));

    assert.equal(loadProgram<{ value(): number }>(file).exports.value(), 2);
  });

  it('is what its text says, also when its code is kept after the text was replaced', {
    skip: !OWN_CACHE && 'Node keeps the code itself',
  }, (t) => {
    const { file, write } = bundle(t, TEXT);
    const { exports, keep } = loadProgram<{ value(): number }>(file);
    exports.value();
    write(TEXT.replace('1', '2')); // packages that are installed anew under a host that has just begun
    keep();

    assert.equal(loadProgram<{ value(): number }>(file).exports.value(), 2);
  });

  it('is kept, and nothing is thrown, where its file is gone by then', (t) => {
    const { file } = bundle(t, TEXT);
    const { keep } = loadProgram(file);
    rmSync(file); // packages are being installed anew

    assert.doesNotThrow(keep);
  });

  it('runs without what was kept when that is not whole', { skip: !OWN_CACHE && 'Node keeps the code itself' }, (t) => {
    const { file, kept } = bundle(t, TEXT);
    loadProgram(file).keep();
    const [path = ''] = kept();
    const whole = readFileSync(path);
    for (const broken of [
      whole.subarray(0, 100),
      Buffer.alloc(0),
      Buffer.from(whole.map((byte, at) => (at === 60 ? byte ^ 1 : byte))),
    ]) {
      writeFileSync(path, broken);
      assert.equal(loadProgram<{ value(): number }>(file).exports.value(), 1);
    }
  });

  it('runs where nothing can be kept', (t) => {
    const { file } = bundle(t, TEXT);
    writeFileSync(join(file, '..', '.compile-cache'), 'a file in the place of the folder');
    const program = loadProgram<{ value(): number }>(file);
    program.keep();

    assert.equal(program.exports.value(), 1);
  });

  it('is not refused by a worker for the options that it is started with', () => {
    const tagOf = (...options: readonly string[]) => {
      const code = "console.log(require('node:v8').cachedDataVersionTag())";
      return spawnSync(process.execPath, [...options, '-e', code], { encoding: 'utf8' }).stdout;
    };

    assert.match(tagOf(), /^\d+$/m);
    assert.equal(tagOf(...WORKER_OPTIONS), tagOf());
  });

  it('is not taken later from another build, nor where it is gone: a restart is asked for', (t) => {
    const { file } = bundle(t, "exports.build = 'b1'; exports.value = () => 1;");
    const name = basename(file);
    assert.throws(() => loadLater(file, name, 'b2'), { code: 'restart_required', hint: 'svc runtime restart' });
    assert.throws(() => loadLater(file, 'gone.cjs', 'b1'), { code: 'restart_required', hint: 'svc runtime restart' });
    assert.equal(loadLater<{ value(): number }>(file, name, 'b1').value(), 1);
  });
});
