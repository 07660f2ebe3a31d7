// What a worker wrote to its log before it ended is in the file, whatever ended it. SVC_DEATHS: how often of each kind (10).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

// biome-ignore lint/style/noProcessEnv: a switch of the test run
const DEATHS = Number(process.env['SVC_DEATHS'] ?? 3);
const LINES = Array.from({ length: 2_000 }, (_, index) => index + 1);
let program: string;

before(async () => {
  program = (await bundlePrograms(['test/support/fixture-programs/ending/last-words.ts'])).get('last-words') ?? '';
});

/** Resolves with code and signal. */
function die(file: string, end: string): Promise<string> {
  const command = ['ulimit -c 0; exec "$@"', 'sh', process.execPath, '--max-old-space-size=16', program, file, end];
  return new Promise((resolve) =>
    spawn('sh', ['-c', ...command], { stdio: 'ignore' }).once('exit', (code, signal) =>
      resolve(String(signal ?? code)),
    ),
  );
}

describe('the last words of a worker', () => {
  for (const [end, expected] of [
    ['exit', '1'],
    ['throw', '1'],
    ['abort', 'SIGABRT'],
    ['memory', 'SIGABRT'],
    ['kill', 'SIGKILL'],
  ] as const) {
    it(`are all in the log, in order, after ${end}`, async (t) => {
      const file = `${temporaryProject(t).path}/runtime.log`;

      for (let death = 0; death < DEATHS; death += 1) {
        assert.equal(await die(file, end), expected);

        const numbers = readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line).n);
        assert.deepEqual(numbers, LINES);
        rmSync(file);
      }
    });
  }
});
