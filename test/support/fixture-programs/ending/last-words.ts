// Writes numbered lines through the log of a worker, or for `-` as plain Node prints them, then ends in the way that its argument names.
import { createLog } from '../../../../shared/log/logger.ts';

const [, , file = '', end = ''] = process.argv;
const write = file === '-' ? print : logged();
for (let n = 1; n <= 2_000; n += 1) write(n);
if (end === 'exit') process.exit(1);
if (end === 'abort') process.abort();
if (end === 'kill') process.kill(process.pid, 'SIGKILL');
if (end === 'throw') throw new Error('the end');
if (end === 'memory') {
  const kept: unknown[] = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, () => kept.length));
}

function logged(): (n: number) => void {
  const { logger } = createLog({ destination: file, base: { project: 'p' } });
  return (n) => logger.info({ n }, 'a line before the end');
}

/** The same line. */
function print(n: number): void {
  const time = new Date().toISOString();
  console.log(JSON.stringify({ level: 'info', time, project: 'p', n, msg: 'a line before the end' }));
}
