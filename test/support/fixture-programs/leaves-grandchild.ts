// Starts a process that outlives it, writes its pid down, comes up.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { comeUp, hello, obey } from '../fixture-worker.ts';

const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], {
  stdio: 'ignore',
});
appendFileSync('grandchildren', `${child.pid}\n`);
hello();
obey();
comeUp();
