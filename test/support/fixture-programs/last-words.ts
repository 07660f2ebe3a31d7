// Writes numbered lines through the log of a worker, then ends in the way that its argument names.
import { createLog } from '../../../shared/logger.ts';

const [, , file = '', end = ''] = process.argv;
const { logger } = createLog({ destination: file, base: { project: 'p' } });
for (let n = 1; n <= 2_000; n += 1) logger.info({ n }, 'a line before the end');
if (end === 'exit') process.exit(1);
if (end === 'abort') process.abort();
if (end === 'kill') process.kill(process.pid, 'SIGKILL');
if (end === 'throw') throw new Error('the end');
if (end === 'memory') {
  const kept: unknown[] = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, () => kept.length));
}
