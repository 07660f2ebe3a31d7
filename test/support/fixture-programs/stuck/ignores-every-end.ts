// A worker that outlives its supervisor where it can, hears no SIGTERM, and has a child of the same kind in its group, whose pid it writes down.
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { comeUp, obey, tell } from '../../process/fixture-worker.ts';

if (existsSync('grandchild'))
  obey(); // the next one
else {
  process.on('SIGTERM', () => {});
  process.on('uncaughtException', () => {}); // nobody hears the heartbeat any more
  const deaf = 'process.on("SIGTERM", () => {}); setTimeout(() => {}, 60_000)';
  const child = spawn(process.execPath, ['-e', deaf], { stdio: 'ignore' });
  writeFileSync('grandchild', String(child.pid));
}
tell({ type: 'hello', protocol: 1, capabilities: [], runtimeId: `fixture-${process.pid}`, version: 'fixture' });
process.on('disconnect', () => {});
process.channel?.unref();
comeUp();
