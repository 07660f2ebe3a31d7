// Starts a process that outlives it, writes its pid down, comes up.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { comeUp, hello, obey } from '../fixture-worker.ts';

// A minute, longer than any test of it: where a test kills the supervisor itself, nobody is left to end it.
const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setTimeout(() => {}, 60_000)'], {
  stdio: 'ignore',
});
appendFileSync('grandchildren', `${child.pid}\n`);
hello();
obey();
comeUp();
