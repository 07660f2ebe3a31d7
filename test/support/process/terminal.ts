// The built command on a terminal of its own, by `script` of util-linux (on every Debian: package bsdutils): what stands on the screen,
// what a person types, and how it ends.
import { spawn, spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { CLI } from '../svc-command.ts';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

export const CTRL_C = '\u0003';
export const ENTER = '\r';

/** Why there is no terminal to be had here; false where there is one. */
export function terminalMissing(): string | false {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return /util-linux/.test(String(stdout)) ? false : 'no `script` of util-linux';
}

export interface Terminal {
  /** All that was ever printed, without control sequences. */
  readonly screen: () => string;
  /** Waits for a text that was not printed before the last thing typed. */
  shows(text: string): Promise<void>;
  type(keys: string): void;
  readonly ended: Promise<number | null>;
}

export function terminal(t: Cleanup, args: readonly string[], cwd: string): Terminal {
  const line = ['stty cols 100 rows 30;', 'exec', ...[process.execPath, CLI, ...args].map(quoted)].join(' ');
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  let seenUpTo = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  child.stdin.on('error', () => {}); // what is typed may come behind the end
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  t.after(async () => {
    child.kill();
    await ended;
  });
  const screen = (): string => stripVTControlCharacters(text);
  return {
    screen,
    async shows(wanted) {
      await until(() => screen().includes(wanted, seenUpTo), {
        what: `${JSON.stringify(wanted)} on the terminal`,
      });
    },
    type(keys) {
      seenUpTo = screen().length;
      child.stdin.write(keys);
    },
    ended,
  };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
