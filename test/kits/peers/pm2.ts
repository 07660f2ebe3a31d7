// PM2 from npm, each keeper with a PM2_HOME of its own. It asks nobody for its newest version and is linked to no dashboard.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Keeper, type KeptProgram, type Program, run } from '../../bench/load/keeper.ts';
import { foregroundArgs } from '../../support/process/built-svc.ts';
import { until } from '../../support/until.ts';
import { endPeer, newFolder, type Peer, pidIn } from './peer.ts';

const VERSION = '7.0.4';
/** PM2 kills after 1.6 s unless told otherwise; a host may take 8 s for its drain. */
const KILL_MS = '8000';

/** Throws when it cannot be had. */
export async function installPm2(folder: string): Promise<Peer> {
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await run('npm', ['install', '--prefix', folder, ...quiet, `pm2@${VERSION}`]);
  return { version: VERSION, keeper: keeperOf(join(folder, 'node_modules/pm2/bin/pm2')) };
}

function keeperOf(pm2: string): Keeper {
  return {
    name: 'PM2',
    async host(project) {
      const home = newFolder('pm2');
      const command = commandOf(pm2, home);
      const [file = '', ...args] = foregroundArgs(project.folder);
      await command([
        'start',
        file,
        '--name',
        'host',
        '--cwd',
        project.folder,
        '--kill-timeout',
        KILL_MS,
        '--',
        ...args,
      ]);
      const keeperPid = pidIn(join(home, 'pm2.pid'));
      return {
        keeperPid,
        status: () => command(['ls']),
        restart: () => command(['restart', 'host']),
        stop: () => endPeer(keeperPid, home, () => command(['kill'])),
      };
    },
    program: (program) => keepProgram(pm2, program),
  };
}

async function keepProgram(
  pm2: string,
  { file, env, nodeOptions = [], always = false }: Program,
): Promise<KeptProgram> {
  const home = newFolder('pm2');
  const command = commandOf(pm2, home, env);
  const flags = ['--name', 'program', '--cwd', home];
  if (nodeOptions.length > 0) flags.push(`--node-args=${nodeOptions.join(' ')}`);
  if (always) flags.push('--max-restarts', '1000000');
  await command(['start', file, ...flags]);
  const keeperPid = pidIn(join(home, 'pm2.pid'));
  const log = join(home, 'logs', 'program-out.log');
  await until(() => existsSync(log), { what: 'its log' });
  return {
    keeperPid,
    folder: home,
    printed: () => readFileSync(log, 'utf8'),
    printedBytes: () => statSync(log).size,
    stop: () => endPeer(keeperPid, home, () => command(['kill'])),
  };
}

function commandOf(pm2: string, home: string, env: Readonly<Record<string, string>> = {}) {
  const environment = { ...process.env, ...env, PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: 'true' };
  // No memory images of the programs that abort: the limit goes on to what the daemon starts.
  const shell = ['-c', 'ulimit -c 0; exec "$@"', 'sh', process.execPath, pm2];
  return (args: readonly string[]): Promise<void> => run('sh', [...shell, ...args], environment);
}
