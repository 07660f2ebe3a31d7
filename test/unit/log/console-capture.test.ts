// What a plugin prints by itself is a line of the log like any other.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createLog } from '../../../shared/log/logger.ts';
import { captureConsole } from '../../../worker/process/console-capture.ts';

describe('what is printed in a worker', () => {
  it('goes into the log, line by line, without a secret, and half a line with the next or at the end', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-capture-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'runtime.log');
    const log = createLog({ destination: file, base: {} });
    log.secrets.add(['planted-secret-1']);
    const capture = captureConsole(log);

    try {
      console.warn('by console with %s', 'planted-secret-1');
      process.stdout.write('half a ');
      process.stdout.write(Buffer.from('line ö planted-secr'));
      process.stdout.write('et-1\nnext\nand');
      process.stderr.write('to stderr\n');
      console.table([{ a: 1 }]);
    } finally {
      capture.release();
    }

    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ level, source, msg }) => `${level} ${source} ${msg}`);
    assert.deepEqual(lines.slice(0, 4), [
      'warn console by console with [secret]',
      'info stdout half a line ö [secret]',
      'info stdout next',
      'warn stderr to stderr',
    ]);
    assert.match(lines[4] ?? '', /^info console ┌/);
    assert.deepEqual(lines.slice(5), ['info stdout and']);
  });

  it('calls back as a stream does', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-capture-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const capture = captureConsole(createLog({ destination: join(folder, 'log'), base: {} }));

    const written = await new Promise((resolve) => {
      process.stdout.write('x\n', 'utf8', () => resolve('with an encoding'));
    }).finally(() => capture.release());

    assert.equal(written, 'with an encoding');
  });
});
