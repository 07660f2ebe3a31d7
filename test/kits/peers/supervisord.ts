// supervisord from Debian's package, unpacked into a folder: no service is installed, none of the machine's is touched.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Keeper, run } from '../../bench/load/keeper.ts';
import { foregroundArgs } from '../../support/process/built-svc.ts';
import { until } from '../../support/until.ts';
import { endPeer, newFolder, type Peer, pidIn } from './peer.ts';

interface Entry {
  readonly folder: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly always?: boolean;
}

/** Throws when it cannot be had. */
export async function installSupervisord(folder: string): Promise<Peer> {
  await run('sh', ['-c', 'cd "$1" && apt-get download -q supervisor && dpkg-deb -x supervisor_*.deb .', 'sh', folder]);
  const version =
    readdirSync(folder)
      .find((name) => name.endsWith('.deb'))
      ?.split('_')[1] ?? 'unknown';
  await run('python3', ['-c', 'import supervisor.supervisord'], environmentOf(folder));
  return { version, keeper: keeperOf(folder) };
}

function keeperOf(installed: string): Keeper {
  return {
    name: 'supervisord',
    async host(project) {
      const folder = newFolder('supervisord');
      const command = [process.execPath, ...foregroundArgs(project.folder)];
      const { keeperPid, control } = await start(installed, { folder, command, cwd: project.folder });
      return {
        keeperPid,
        status: () => control('status'),
        restart: () => control('restart', 'kept'),
        stop: () => endPeer(keeperPid, folder, () => control('shutdown')),
      };
    },
    async program({ file, env, nodeOptions = [], always = false }) {
      const folder = newFolder('supervisord');
      const command = [process.execPath, ...nodeOptions, file];
      const { keeperPid, control } = await start(installed, { folder, command, cwd: folder, env, always });
      const log = join(folder, 'kept.log');
      await until(() => existsSync(log), { what: 'its log' });
      return {
        keeperPid,
        folder,
        printed: () => readFileSync(log, 'utf8'),
        printedBytes: () => statSync(log).size,
        stop: () => endPeer(keeperPid, folder, () => control('shutdown')),
      };
    },
  };
}

async function start(
  installed: string,
  entry: Entry,
): Promise<{ readonly keeperPid: number; readonly control: (...words: string[]) => Promise<void> }> {
  const file = join(entry.folder, 'supervisord.conf');
  writeFileSync(file, configuration(entry));
  const program = (name: string): readonly string[] => [
    '-c',
    'ulimit -c 0; exec "$@"',
    'sh',
    'python3',
    join(installed, 'usr/bin', name),
    '-c',
    file,
  ];
  const env = environmentOf(installed);
  await run('sh', program('supervisord'), env);
  const pidFile = join(entry.folder, 'supervisord.pid');
  await until(() => existsSync(pidFile), { what: 'its pid file' });
  return {
    keeperPid: pidIn(pidFile),
    control: (...words) => run('sh', [...program('supervisorctl'), ...words], env),
  };
}

/** Its defaults, but for a drain of 8 s and, where restarts are to have no limit, for that. */
function configuration({ folder, command, cwd, env = {}, always = false }: Entry): string {
  const environment = Object.entries(env).map(([name, value]) => `${name}="${value}"`);
  const socket = join(folder, 'supervisor.sock');
  return [
    '[unix_http_server]',
    `file=${socket}`,
    '[supervisord]',
    `logfile=${join(folder, 'supervisord.log')}`,
    `pidfile=${join(folder, 'supervisord.pid')}`,
    `childlogdir=${folder}`,
    '[rpcinterface:supervisor]',
    'supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface',
    '[supervisorctl]',
    `serverurl=unix://${socket}`,
    '[program:kept]',
    `command=${command.map((word) => `"${word}"`).join(' ')}`,
    `directory=${cwd}`,
    `stdout_logfile=${join(folder, 'kept.log')}`,
    'stdout_logfile_maxbytes=0',
    'redirect_stderr=true',
    'autorestart=true',
    'stopwaitsecs=8',
    ...(environment.length === 0 ? [] : [`environment=${environment.join(',')}`]),
    ...(always ? ['startsecs=0', 'startretries=1000000'] : []),
    '',
  ].join('\n');
}

const environmentOf = (installed: string): NodeJS.ProcessEnv => ({
  ...process.env,
  PYTHONPATH: join(installed, 'usr/lib/python3/dist-packages'),
  PYTHONWARNINGS: 'ignore',
});
