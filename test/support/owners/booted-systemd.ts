// A real systemd as first process of a container of systemd-nspawn, without network and with /usr of this machine; all that it writes is in memory.
// Needs root and systemd-nspawn. The repository is at /opt/svc, node at /opt/node/bin/node.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { until } from '../until.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const BOOT_MS = 120_000;
const PATH = '/opt/node/bin:/usr/local/bin:/usr/bin:/bin';

export interface Inside {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InsideOptions {
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface BootedSystemd {
  /** Runs a program inside to its end, as root unless told. */
  run(command: readonly string[], options?: InsideOptions): Promise<Inside>;
  /** The same; throws unless it ends with 0. Gives stdout without the last line's end. */
  must(command: readonly string[], options?: InsideOptions): Promise<string>;
  /** The command `svc`. */
  svc(args: readonly string[], options?: InsideOptions): Promise<Inside>;
  write(path: string, text: string): Promise<void>;
  end(): Promise<void>;
}

/** Why no systemd can be booted here; false where it can. Throws where one has to be. */
export function nspawnMissing(): string | false {
  const missing = reasonWithout();
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (missing !== false && process.env['SVC_REQUIRE_NSPAWN'] === '1')
    throw new Error(`SVC_REQUIRE_NSPAWN=1, but ${missing}`);
  return missing;
}

function reasonWithout(): string | false {
  if (process.platform !== 'linux') return 'systemd is of Linux';
  if (process.getuid?.() !== 0) return 'booting a container needs root';
  const programs = ['systemd-nspawn', 'nsenter', 'setpriv'].filter(
    (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error !== undefined,
  );
  if (programs.length > 0) return `${programs.join(', ')} missing: install systemd-container`;
  const tried = spawnSync('systemd-nspawn', [...CONTAINER, '-D', '/', '--pipe', 'true'], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return tried.status === 0 ? false : `systemd-nspawn is refused here: ${tried.stderr.trim().split('\n').at(-1)}`;
}

const CONTAINER = ['--quiet', '--volatile=yes', '--register=no', '--keep-unit', '--private-network'];

/** Boots to basic.target: given no target, it would start every service that this machine has. */
export async function bootSystemd(): Promise<BootedSystemd> {
  const nspawn = spawn(
    'systemd-nspawn',
    [
      ...CONTAINER,
      '--boot',
      '--console=passive',
      `--machine=svc-${process.pid}`,
      `--bind-ro=${REPOSITORY}:/opt/svc`,
      `--bind-ro=${process.execPath}:/opt/node/bin/node`,
      '-D',
      '/',
      'systemd.unit=basic.target',
      'systemd.firstboot=off',
    ],
    { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const said: string[] = [];
  for (const stream of [nspawn.stdout, nspawn.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const first = await until(() => firstProcessOf(nspawn, said), {
    what: 'the first process of the container',
    timeoutMs: BOOT_MS,
  });
  const run = (command: readonly string[], options: InsideOptions = {}): Promise<Inside> =>
    enter(first, command, options);
  const must = async (command: readonly string[], options: InsideOptions = {}): Promise<string> => {
    const { code, stdout, stderr } = await run(command, options);
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout.trimEnd();
  };
  await until(async () => /running|degraded/.test((await run(['systemctl', 'is-system-running'])).stdout), {
    what: `the end of the boot: ${said.join('').slice(-2_000)}`,
    timeoutMs: BOOT_MS,
    everyMs: 200,
  });
  // There is no network to wait for; by default it would be waited for two minutes.
  await must(['systemctl', 'mask', '--runtime', 'systemd-networkd-wait-online.service']);
  return {
    run,
    must,
    svc: (args, options) => run(['node', '/opt/svc/dist/cli.js', ...args], options),
    write: async (path, text) => {
      await must(['sh', '-c', 'mkdir -p "$(dirname "$1")" && printf %s "$2" >"$1"', 'sh', path, text]);
    },
    async end() {
      const gone = new Promise((resolve) => nspawn.once('close', resolve));
      nspawn.kill('SIGTERM'); // it asks the first process to halt
      const forced = setTimeout(() => nspawn.kill('SIGKILL'), 30_000);
      await gone;
      clearTimeout(forced);
      rmSync(`/run/systemd/nspawn/propagate/svc-${process.pid}`, { recursive: true, force: true });
    },
  };
}

/** Throws once nspawn has ended. */
function firstProcessOf({ pid, exitCode }: ChildProcess, said: readonly string[]): number | undefined {
  if (exitCode !== null) throw new Error(`systemd-nspawn ended with ${exitCode}: ${said.join('')}`);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const first = Number(children.split(' ')[0]);
  if (!(first > 0) || !existsSync(`/proc/${first}/root/run/systemd/system`)) return undefined;
  return first;
}

function enter(first: number, command: readonly string[], { user, env = {} }: InsideOptions): Promise<Inside> {
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups'];
  const variables = Object.entries({ PATH, HOME: '/root', LANG: 'C.UTF-8', ...env }).map(
    ([name, value]) => `${name}=${value}`,
  );
  return new Promise((resolve) => {
    execFile(
      'nsenter',
      ['--target', String(first), '--all', '--root', 'env', '-C', '/', '-i', ...variables, ...as, ...command],
      { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr }),
    );
  });
}
