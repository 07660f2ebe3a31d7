// A real IRC server from Debian's package ngircd, on a free port of the loopback address, gone with the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import type { Cleanup } from './temporary-project.ts';
import { until } from './until.ts';

const BINARY = ['/usr/sbin/ngircd', '/usr/bin/ngircd', '/usr/local/sbin/ngircd', '/opt/homebrew/sbin/ngircd'].find(
  (path) => existsSync(path),
);

/** Why tests with a real server cannot run here, or false. Throws where they have to run. */
export function ngircdMissing(): string | false {
  if (BINARY !== undefined) return false;
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (process.env['SVC_REQUIRE_NGIRCD'] === '1')
    throw new Error('SVC_REQUIRE_NGIRCD=1, but there is no ngircd: apt-get install -y ngircd');
  return 'there is no ngircd on this machine: apt-get install -y ngircd';
}

export interface Ngircd {
  readonly port: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** The same server on the same port, as it was configured. */
  start(): Promise<void>;
}

export async function ngircd(t: Cleanup, name = 'irc.test.local'): Promise<Ngircd> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ngircd-'));
  const port = await freePort();
  const file = join(folder, 'ngircd.conf');
  const { username } = userInfo();
  writeFileSync(
    file,
    [
      '[Global]',
      `Name = ${name}`,
      'Info = test',
      'Listen = 127.0.0.1',
      `Ports = ${port}`,
      'MotdPhrase = hello',
      `ServerUID = ${username}`,
      `ServerGID = ${username}`,
    ]
      .concat([
        '[Limits]',
        'MaxConnectionsIP = 0',
        'MaxNickLength = 16',
        'PingTimeout = 120',
        '[Options]',
        'Ident = no',
        'PAM = no',
        'DNS = no',
        'SyslogFacility = local1',
        '',
      ])
      .join('\n'),
  );
  let server: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    const running = server;
    server = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await gone;
  };
  const start = async (): Promise<void> => {
    const lines: string[] = [];
    const started = spawn(BINARY ?? 'ngircd', ['-n', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    server = started;
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => lines.push(text));
    await until(() => started.exitCode === null && accepts(port), { what: 'ngircd to listen' }).catch(
      (error: unknown) => {
        throw new Error(`ngircd did not start:\n${lines.join('')}`, { cause: error });
      },
    );
  };
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return { port, kill: stop, start };
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
