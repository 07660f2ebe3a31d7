// The plainest way to keep a program up, as a baseline: a loop of a shell, without limit, delay or memory of what was.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keeper } from './keeper.ts';

export const SHELL_LOOP: Pick<Keeper, 'name' | 'program'> = {
  name: 'a shell loop',
  async program({ file, env, nodeOptions = [] }) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bench-loop-'));
    const log = join(folder, 'log');
    const script = 'ulimit -c 0; log=$1; shift; while :; do "$@" >>"$log" 2>&1; done';
    const child = spawn('sh', ['-c', script, 'sh', log, process.execPath, ...nodeOptions, file], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: 'ignore',
      detached: true, // a group of its own: the end of the shell alone would leave the program
    });
    const { pid } = child;
    if (pid === undefined) throw new Error('there is no sh');
    return {
      keeperPid: pid,
      folder,
      printed: () => readFileSync(log, 'utf8'),
      printedBytes: () => statSync(log).size,
      async stop() {
        process.kill(-pid, 'SIGKILL');
        await once(child, 'exit');
        rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      },
    };
  },
};
