// Redis from Debian's packages, unpacked into a folder: no service is installed. Each write is on the disk before it is answered.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../../bench/load/keeper.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const PACKAGES = ['redis-tools', 'liblzf1', 'libjemalloc2', 'liblua5.1-0', 'lua-bitop', 'lua-cjson', 'libatomic1'];
/** The server and the check of its files are one program, which goes by the name that it is called. */
const PROGRAM = 'usr/bin/redis-check-rdb';

export interface Redis {
  readonly url: string;
  stop(): Promise<void>;
}

/** Throws when it cannot be had. */
export async function installRedis(folder: string): Promise<string> {
  const script = 'cd "$1" && shift && apt-get download -q "$@" && for one in *.deb; do dpkg-deb -x "$one" .; done';
  await run('sh', ['-c', script, 'sh', folder, ...PACKAGES]);
  const tools = readdirSync(folder).find((name) => name.startsWith('redis-tools'));
  return /_(?:\d+%3a)?([\d.]+)/.exec(tools ?? '')?.[1] ?? 'unknown';
}

export async function startRedis(installed: string, data: string): Promise<Redis> {
  const libraries = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.so(\.|$)/.test(name),
  );
  const paths = [...new Set(libraries.map((name) => dirname(join(installed, name))))];
  const port = await freePort();
  const flags = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    data,
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
  ];
  const server = spawn(join(installed, PROGRAM), flags, {
    argv0: 'redis-server',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], LD_LIBRARY_PATH: paths.join(':') },
  });
  let said = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until(() => server.exitCode !== null || said.includes('Ready to accept connections'), { what: 'redis' });
  if (server.exitCode !== null) throw new Error(`redis ended with ${server.exitCode}:\n${said}`);
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    },
  };
}
