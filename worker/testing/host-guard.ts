// A process between a harness and its test host. It starts the host, and kills it with all its children when the harness asks. It does the same
// when the harness is gone, however that ended. Then it removes the host's folder. It is detached from the harness's terminal, so Ctrl-C ends the
// harness first.
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { RuntimeStatus } from '../../shared/api/control.ts';
import { callControl } from '../../shared/control/control-client.ts';
import { WORKER_SOCKET } from '../../shared/files/paths.ts';

export type ToGuard =
  | { readonly kind: 'start'; readonly args: readonly string[]; readonly environment: Readonly<Record<string, string>> }
  | { readonly kind: 'signal'; readonly signal: 'SIGTERM' | 'SIGKILL' }
  | { readonly kind: 'end' };

export type FromGuard =
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'up'; readonly pid: number; readonly port: number }
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: string | null };

const LOOK_MS = 20;
const ANSWER_MS = 1_000;

const [, , folder = ''] = process.argv;
let host: ChildProcess | undefined;
let isEnding = false;

process.chdir(folder);
process.on('message', (message: ToGuard) => {
  switch (message.kind) {
    case 'start':
      return start(message.args, message.environment);
    case 'signal':
      return void (message.signal === 'SIGKILL' ? killAll() : host?.kill(message.signal));
    case 'end':
      return end();
  }
});
process.on('disconnect', end);

function start(args: readonly string[], environment: Readonly<Record<string, string>>): void {
  // A process group of its own: processes that plugins start end with it.
  const child = spawn(process.execPath, args, { env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  host = child;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => tell({ kind: 'output', text }));
  child.once('exit', () => killGroup(child));
  child.once('error', (error) => tell({ kind: 'output', text: `${error.message}\n` }));
  child.once('close', (code, signal) => {
    if (host === child) host = undefined;
    tell({ kind: 'ended', code, signal });
    if (isEnding) leave();
  });
  void tellWhenUp(child); // tellWhenUp handles its own errors
}

async function tellWhenUp(child: ChildProcess): Promise<void> {
  for (;;) {
    const status = await callControl(WORKER_SOCKET, 'status', { timeoutMs: ANSWER_MS }).then(
      (answer) => answer as RuntimeStatus,
      () => undefined, // not yet
    );
    if (child.exitCode !== null || child.signalCode !== null) return;
    if (status !== undefined && status.pid === child.pid && status.state === 'running' && status.address !== null)
      return tell({ kind: 'up', pid: status.pid ?? 0, port: status.address.port });
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function tell(message: FromGuard): void {
  if (process.connected) process.send?.(message);
}

function killAll(): void {
  if (host !== undefined) killGroup(host);
}

/** Kills the host's process group. The host leads the group, which exists as long as one of its processes does. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    return; // no process of the group is left
  }
}

function end(): void {
  if (isEnding) return;
  isEnding = true;
  if (host === undefined) return leave();
  killAll();
}

/** Removes the folder and disconnects. No other handle keeps this process alive. */
function leave(): void {
  process.chdir('/');
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  if (process.connected) process.disconnect();
}
