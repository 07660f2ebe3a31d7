// The WAL is removed while the writer thread of a start opens the file (WRITER-5). In a process of its own, since a moment is possible at which the
// file cannot be mended in the process: then it ends at once, and the next one mends it (WRITER-7).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { EarlyWriter } from '../../../worker/database/sqlite/early-writer.ts';
import { startWriterThread } from '../../../worker/database/sqlite/start-thread.ts';
import type { ToWriter } from '../../../worker/database/sqlite/writer-thread.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter } from '../../../worker/database/writer.ts';
import { afterAKill } from '../../support/disk/beside-database.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const { REMOVED_LOG_FILE, REMOVED_LOG_AFTER_MS } = process.env;
/** Commits that follow the removal. */
const AFTER = 5;

const put = (key: string): Unit => ({
  name: 'test',
  statements: [{ sql: "INSERT INTO meta (key, value) VALUES (?, 'v')", parameters: [key] }],
});

if (REMOVED_LOG_FILE === undefined) tests();
else await write(REMOVED_LOG_FILE, Number(REMOVED_LOG_AFTER_MS));

/** Commits one key after the other, and prints each that was answered. */
async function write(file: string, afterMs: number): Promise<void> {
  const thread = startWriterThread();
  const isTaken = takenAtOpen(thread, { file, afterMs });
  const runner = new EarlyWriter({ file, failpoints: undefined }, Promise.resolve(thread), () => {});
  const writer = new GroupingWriter(runner);
  await runner.open();
  const commit = async (key: string): Promise<void> => {
    const { kind } = await writer.commit(put(key));
    if (kind !== 'committed') throw new Error(`${key}: ${kind}`);
    writeSync(1, `${key}\n`);
  };
  let key = 1_000;
  for (let after = 0; after < AFTER; key += 1) {
    await commit(`k${key}`);
    if (isTaken()) after += 1;
  }
  await commit('k9999'); // it mends what was taken away after the last
  await runner.close();
}

/** Takes the log away so long after the thread is told to open the file. */
function takenAtOpen(thread: Worker, { file, afterMs }: { readonly file: string; readonly afterMs: number }) {
  let isTaken = false;
  const post = thread.postMessage.bind(thread);
  const take = (): void => {
    rmSync(`${file}-wal`, { force: true });
    isTaken = true;
  };
  thread.postMessage = (message: ToWriter) => {
    if (message.kind === 'open' && afterMs === 0) take();
    post(message);
    if (message.kind === 'open' && afterMs > 0) setTimeout(take, afterMs);
  };
  return () => isTaken;
}

function tests(): void {
  describe('the writer of a start, when the log is removed', { concurrency: 2 }, () => {
    for (const afterMs of [0, 1, 2, 3, 4, 5, 6, 8])
      it(`${afterMs} ms after its thread is told to open the file, loses nothing that it has answered`, async (t) => {
        const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
        mkdirSync(dirname(file), { recursive: true });
        const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? ''], {
          env: { ...process.env, NODE_TEST_CONTEXT: '', REMOVED_LOG_FILE: file, REMOVED_LOG_AFTER_MS: String(afterMs) },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        t.after(() => void child.kill('SIGKILL'));
        const [out, err, [code, signal]] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, 'close') as Promise<[number | null, string | null]>,
        ]);

        const answered = out.split('\n').filter((line) => line !== '');
        const stored = await afterAKill(file);
        if (signal === 'SIGKILL') {
          assert.match(err, /cannot be restored: the worker ends/);
          assert.deepEqual(stored.slice(0, answered.length), answered); // one more may be stored, and was not answered
        } else {
          assert.equal(code, 0, err);
          assert.deepEqual(stored, answered);
          assert.equal(answered.at(-1), 'k9999');
        }
      });
  });
}
