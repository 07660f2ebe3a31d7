// The shell that a start makes way for as first process of a container, as the shells of images run it (INIT-SHELL-1 to INIT-SHELL-3). Needs root.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { INIT_SCRIPT } from '../../../supervisor/cli/start/init-shell.ts';
import { type First, firstProcess, namespaceMissing, says } from '../../support/process/first-process.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

const SHELLS: readonly (readonly string[])[] = [['dash'], ['busybox', 'sh']];
const ROUNDS = 20;

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGTERM', 'SIGTERM', 'SIGUSR1'] as const;
/** Says `ready`, then each signal that it hears, with a number; SIGINT ends it with 75. */
const HEARS = `let heard = 0;
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR1']) process.on(signal, () => console.log(heard++ + ' ' + signal));
process.on('SIGINT', () => process.exit(75));
setInterval(() => {}, 1000);
console.log('ready');`;
/** Ends with 75 amid signals for the first process; deaf to them itself to its very end, which no Node is. */
const ENDS_AMID_SIGNALS = `trap '' USR1
i=0; while [ $i -lt 30 ]; do kill -USR1 1; i=$((i + 1)); done
exit 75`;
/** Leaves children of children behind, and ends with 0 once none of them is there, 1 where they stay. */
const LEAVES = `for n in 1 2 3; do sh -c 'sleep 0.1 &'; done
i=0; while ps -e -o stat=,comm= | grep -q 'sleep'; do i=$((i + 1)); [ $i -lt 300 ] || exit 1; sleep 0.1; done`;

for (const shell of SHELLS) {
  const missing =
    namespaceMissing() || (spawnSync(shell[0] ?? '', ['-c', ':']).error !== undefined && 'it is not there');
  describe(`a container whose first process is ${shell.join(' ')}`, { skip: missing }, () => {
    const first = (t: Cleanup, ...command: string[]): First =>
      firstProcess(t, [...shell, '-c', INIT_SCRIPT, 'svc', ...command]);
    const code = async (t: Cleanup, ...command: string[]): Promise<number | null> =>
      (await first(t, ...command).ended).code;

    it('ends as its command does (INIT-SHELL-2)', async (t) => {
      for (const ended of [0, 1, 51, 75, 78, 127, 130]) assert.equal(await code(t, 'sh', '-c', `exit ${ended}`), ended);
      assert.equal(await code(t, 'sh', '-c', 'kill -KILL $$'), 137);
      assert.equal(await code(t, 'sh', '-c', 'kill -TERM $$'), 143);
    });

    it('hands each signal down once, and none that its command does not know (INIT-SHELL-1)', async (t) => {
      const container = first(t, process.execPath, '-e', HEARS);
      await says(container, 'ready');
      const pid = await container.pid();

      for (const signal of ['SIGUSR2', 'SIGQUIT'] as const) process.kill(pid, signal);
      for (const [at, signal] of SIGNALS.entries()) {
        process.kill(pid, signal);
        await says(container, `${at} ${signal}`);
      }
      process.kill(pid, 'SIGINT');

      const { code: ended, stdout } = await container.ended;
      assert.equal(ended, 75);
      assert.equal(stdout.match(/ SIG/g)?.length, SIGNALS.length);
    });

    it('takes a stop that ends a command which could not hear of it yet for what was asked for (INIT-SHELL-2)', async (t) => {
      for (const signal of ['TERM', 'HUP'])
        assert.equal(await code(t, 'sh', '-c', `kill -${signal} 1; exec sleep 60`), 0, signal);
    });

    it('keeps the code of its command though signals come with its end (INIT-SHELL-3)', async (t) => {
      for (let round = 0; round < ROUNDS; round += 1) assert.equal(await code(t, 'sh', '-c', ENDS_AMID_SIGNALS), 75);
    });

    it('reaps what is left to it (INIT-SHELL-3)', async (t) => {
      assert.equal(await code(t, 'sh', '-c', LEAVES), 0);
    });

    it('leaves its command the input that the container has', async (t) => {
      const { stdout } = await first(t, 'readlink', '/proc/self/fd/0', '/proc/self/fd/3').ended;

      assert.equal(stdout, '/dev/null\n', 'and no descriptor more');
    });
  });
}
