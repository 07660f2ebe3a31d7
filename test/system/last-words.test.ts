// What a worker wrote to its log before it ended is in the file, whatever ended it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { bundlePrograms } from '../support/bundle.ts';
import { temporaryProject } from '../support/temporary-project.ts';

let program: string;

before(async () => {
  program = (await bundlePrograms(['test/support/fixture-programs/last-words.ts'])).get('last-words') ?? '';
});

describe('the last words of a worker', () => {
  for (const end of ['exit', 'throw', 'abort', 'kill']) {
    it(`are all in the log, in order, after ${end} (38)`, async (t) => {
      const file = `${temporaryProject(t).path}/runtime.log`;

      await new Promise((resolve) =>
        spawn('sh', ['-c', 'ulimit -c 0; exec "$@"', 'sh', process.execPath, program, file, end], {
          stdio: 'ignore',
        }).once('exit', resolve),
      );

      const numbers = readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).n);
      assert.deepEqual(
        numbers,
        Array.from({ length: 2_000 }, (_, index) => index + 1),
      );
    });
  }
});
