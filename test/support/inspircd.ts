// A real IRC server from Debian's package inspircd, on a free port of the loopback address, gone with the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import type { Cleanup } from './temporary-project.ts';
import { until } from './until.ts';

const BINARY = [
  '/usr/sbin/inspircd',
  '/usr/bin/inspircd',
  '/usr/local/bin/inspircd',
  '/opt/homebrew/bin/inspircd',
].find((path) => existsSync(path));

/** Why tests with a real server cannot run here, or false. Throws where they have to run. */
export function inspircdMissing(): string | false {
  if (BINARY !== undefined) return false;
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (process.env['SVC_REQUIRE_INSPIRCD'] === '1')
    throw new Error('SVC_REQUIRE_INSPIRCD=1, but there is no inspircd: apt-get install -y inspircd');
  return 'there is no inspircd on this machine: apt-get install -y inspircd';
}

export interface Inspircd {
  readonly port: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** The same server on the same port, as it was configured. */
  start(): Promise<void>;
}

export interface InspircdOptions {
  /** Lines that may come at once; over it they are held back. Default: no limit that a test meets. */
  readonly threshold?: number;
  readonly password?: string;
}

const MODULES =
  'cap ircv3 ircv3_batch ircv3_capnotify ircv3_ctctags ircv3_echomessage ircv3_labeledresponse ircv3_msgid ircv3_servertime chanhistory knock';

export async function inspircd(t: Cleanup, { threshold = 100_000, password }: InspircdOptions = {}): Promise<Inspircd> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-inspircd-'));
  const port = await freePort();
  const file = join(folder, 'inspircd.conf');
  writeFileSync(join(folder, 'motd'), 'hello\n');
  writeFileSync(
    file,
    [
      '<server name="irc.test.local" description="test" network="TestNet" id="00A">',
      '<admin name="test" nick="test" email="test@example.org">',
      `<bind address="127.0.0.1" port="${port}" type="clients">`,
      `<connect name="main" allow="*" timeout="60" pingfreq="2m" recvq="64K" softsendq="64K" hardsendq="1M" threshold="${threshold}" commandrate="1000" fakelag="yes" localmax="100" globalmax="100" resolvehostnames="no" limit="500"${password === undefined ? '' : ` password="${password}"`}>`,
      `<files motd="${folder}/motd">`,
      `<path configdir="${folder}" datadir="${folder}" logdir="${folder}" runtimedir="${folder}">`,
      '<chanhistory bots="yes" enableumode="no" prefixmsg="no">',
      '<options defaultmodes="not" moronbanner="out">',
      ...MODULES.split(' ').map((name) => `<module name="${name}">`),
      '',
    ].join('\n'),
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
    const asRoot = process.getuid?.() === 0 ? ['--runasroot'] : [];
    const args = ['--nofork', '--nopid', '--nolog', ...asRoot, '--config', file];
    const started = spawn(BINARY ?? 'inspircd', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    server = started;
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => lines.push(text));
    await until(() => started.exitCode === null && accepts(port), { what: 'inspircd to listen' }).catch(
      (error: unknown) => {
        throw new Error(`inspircd did not start:\n${lines.join('')}`, { cause: error });
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
