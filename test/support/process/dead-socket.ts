// A socket file that nobody listens behind any more, as a killed process leaves it.
import { spawnSync } from 'node:child_process';
import { basename, dirname } from 'node:path';

/** Bound by its name alone: the path of a project may be longer than that of a socket. */
export function deadSocket(path: string): void {
  const program = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  const { signal } = spawnSync(process.execPath, ['-e', program, basename(path)], { cwd: dirname(path) });
  if (signal !== 'SIGKILL') throw new Error(`no socket was left at ${path}`);
}
