// The host of an svc that was installed into a project, in the foreground, as an owner would run it.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Cleanup } from '../temporary-project.ts';

export interface RunningSvc {
  hasEnded(): boolean;
  output(): string;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
  /** SIGTERM, and its end. */
  stop(): Promise<void>;
}

export function runInstalled(t: Cleanup, project: string): RunningSvc {
  const cli = join(project, 'node_modules/svc/dist/cli.js');
  const args = [cli, 'runtime', 'start', '--mode', 'production', '--no-watch'];
  const child = spawn(process.execPath, args, {
    cwd: project,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  t.after(() => end('SIGKILL'));
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    output: () => text,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}
