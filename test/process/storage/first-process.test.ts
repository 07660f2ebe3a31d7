// The first process of a container outlives the signal by which it ends itself: where the database may not be closed it has to end all the same.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { transformSync } from 'esbuild';

const sourceOf = (path: string): string =>
  JSON.stringify(new URL(`../../../worker/database/${path}`, import.meta.url).href);
const CODE = transformSync(readFileSync(new URL(JSON.parse(sourceOf('sqlite/wal/end-at-once.ts'))), 'utf8'), {
  loader: 'ts',
}).code;
const HERE = `import { endAtOnce } from ${sourceOf('sqlite/wal/end-at-once.ts')}; endAtOnce();`;
const IN_THREAD = `
  import { Worker } from 'node:worker_threads';
  import { ThreadRunner } from ${sourceOf('writer.ts')};
  const text = ${JSON.stringify(`${CODE} endAtOnce();`)};
  const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(text)));
  worker.on('error', (error) => console.error(error));
  new ThreadRunner(worker, { file: 'none', failpoints: undefined }, () => process.exit(7));
  setTimeout(() => process.exit(8), 20_000);`;
const skip =
  spawnSync('unshare', ['--pid', '--fork', 'true']).status !== 0 && 'it takes root on Linux to be the first process';

describe('the first process of a container', { skip }, () => {
  for (const [where, program] of [
    ['its main thread', HERE],
    ['another thread', IN_THREAD],
  ] as const)
    it(`ends where ${where} says so`, () => {
      const node = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', program];
      const { signal, status, stderr } = spawnSync('unshare', ['--pid', '--fork', '--kill-child', ...node], {
        encoding: 'utf8',
        timeout: 60_000,
        killSignal: 'SIGKILL', // unshare waits on behind any other
      });

      assert.notEqual(signal, 'SIGKILL', 'it still runs');
      assert.ok(status !== 0 && status !== 7 && status !== 8, `${status} ${stderr}`);
    });
});
