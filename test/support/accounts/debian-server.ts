// A real server from a package of Debian, on ports of the loopback address, gone with the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

const FOLDERS = [
  '/usr/sbin',
  '/usr/bin',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/opt/homebrew/sbin',
  '/opt/homebrew/bin',
];
const binaryOf = (name: string): string | undefined =>
  FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path));

/** Why tests with this server cannot run here, or false. Throws where they have to run. */
export function serverMissing(name: string): string | false {
  if (binaryOf(name) !== undefined) return false;
  const remedy = `apt-get install -y ${name}`;
  const wanted = `SVC_REQUIRE_${name.toUpperCase()}`;
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (process.env[wanted] === '1') throw new Error(`${wanted}=1, but there is no ${name}: ${remedy}`);
  return `there is no ${name} on this machine: ${remedy}`;
}

export interface DebianServer {
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** The same server on the same ports, as it was configured, with what it has stored. */
  start(): Promise<void>;
}

export interface DebianServerOptions {
  readonly name: string;
  readonly args: readonly string[];
  /** It is up when all of them take connections. */
  readonly ports: readonly number[];
  /** Removed with the test. */
  readonly folder: string;
}

export async function debianServer(
  t: Cleanup,
  { name, args, ports, folder }: DebianServerOptions,
): Promise<DebianServer> {
  let server: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    const running = server;
    server = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await gone;
  };
  const start = async (): Promise<void> => {
    const said: string[] = [];
    const started = spawn(binaryOf(name) ?? name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    server = started;
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
    await until(async () => started.exitCode === null && (await Promise.all(ports.map(accepts))).every(Boolean), {
      what: `${name} to listen`,
    }).catch((error: unknown) => {
      throw new Error(`${name} did not start:\n${said.join('')}`, { cause: error });
    });
  };
  t.after(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return { kill, start };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
