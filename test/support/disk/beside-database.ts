// What another program does to the files of a database that is open here. This process may not: to close a file that it has opened would drop the locks that
// SQLite has on it.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Sqlite } from '../../../shared/sqlite.ts';

const PROGRAM = fileURLToPath(new URL('../fixture-programs/beside-database.mjs', import.meta.url));

type Deed =
  | { readonly deed: 'copy'; readonly from: string; readonly to: string }
  | {
      readonly deed: 'overwrite';
      readonly file: string;
      readonly at: number;
      readonly bytes: number;
      readonly byte: number;
    }
  | { readonly deed: 'checkpoint'; readonly file: string; readonly mode: 'PASSIVE' | 'TRUNCATE' }
  | { readonly deed: 'write'; readonly file: string; readonly key: string };

let program: ChildProcess | undefined;
/** An answer of the other program does not say which deed it answers, so each waits for the one before it. */
let last: Promise<unknown> = Promise.resolve();

/** Resolves when it is done. */
export function beside(deed: Deed): Promise<void> {
  const done = last.then(() => ask(deed));
  last = done.catch(() => {});
  return done;
}

async function ask(deed: Deed): Promise<void> {
  if (program === undefined) {
    const begun = fork(PROGRAM);
    begun.once('exit', () => begun.emit('message', { error: 'the other program has ended' }));
    begun.unref();
    program = begun;
  }
  program.channel?.ref();
  program.send(deed);
  const [{ error }] = (await once(program, 'message')) as [{ readonly error?: string }];
  program.channel?.unref();
  assert.equal(error, undefined);
}

/** Keys that a start would find were the process killed now. */
export async function afterAKill(file: string): Promise<string[]> {
  const folder = mkdtempSync(join(dirname(file), 'killed-'));
  for (const part of [file, `${file}-wal`])
    if (existsSync(part)) await beside({ deed: 'copy', from: part, to: join(folder, basename(part)) });
  const found = new Sqlite(join(folder, basename(file)));
  try {
    assert.equal(found.pragma('integrity_check', { simple: true }), 'ok');
    return found.prepare("SELECT key FROM meta WHERE key LIKE 'k%' ORDER BY key").pluck().all() as string[];
  } finally {
    found.close();
  }
}
