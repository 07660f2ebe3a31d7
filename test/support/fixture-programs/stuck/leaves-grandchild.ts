// First of all writes down which of the processes that earlier ones left live; starts one that outlives it; then the first is what LEAVES_AS says.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { comeUp, hello, obey } from '../../process/fixture-worker.ts';
import { lives } from '../../process/supervised.ts';

const LEFT = 'grandchildren';

const left = existsSync(LEFT) ? readFileSync(LEFT, 'utf8').trimEnd().split('\n').map(Number) : [];
appendFileSync('seen', left.map((pid) => `${pid} ${lives(pid) ? 'lives' : 'is gone'}\n`).join(''));
// A minute, longer than any test of it: where a test kills the supervisor itself, nobody is left to end it.
const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setTimeout(() => {}, 60_000)'], {
  stdio: 'ignore',
});
appendFileSync(LEFT, `${child.pid}\n`);
hello();
// biome-ignore lint/style/noProcessEnv: what the test asks for
const kind = left.length === 0 ? process.env['LEAVES_AS'] : undefined;
if (kind === 'deaf') process.on('SIGTERM', () => {});
else obey();
if (kind !== 'late') comeUp();
if (kind === 'silent')
  setTimeout(() => {
    for (;;) Math.sqrt(2);
  }, 50);
