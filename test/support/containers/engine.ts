// Podman and its kind in namespaces of their own: processes, mounts and network end with the test, and nothing of this machine's engine is touched.
// Groups of processes (cgroups) are off: limits of memory and of processes are read from the container, and not tried.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../until.ts';

const PROGRAMS = [
  'buildah',
  'podman',
  'crun',
  'podman-compose',
  'mmdebstrap',
  'nsenter',
  'iptables',
  'busybox',
] as const;
const OTHERS = ['/usr/lib/podman/netavark', '/usr/libexec/podman/catatonit'];
const UNSHARE = ['--mount', '--net', '--pid', '--fork', '--mount-proc', '--kill-child', '--propagation', 'private'];
/** Stays as first process, and reaps. A cgroup2 alone is what crun takes; locks of podman lie in /dev/shm. */
const HOLDER = `mount -t tmpfs none /run; mount -t tmpfs none /dev/shm; umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup && ip link set lo up || exit 1
echo ready
sleep infinity &
wait`;

/** Why there can be no engine; false where nothing is seen to be in its way. */
export function engineMissing(): string | false {
  if (process.getuid?.() !== 0) return 'running containers needs root';
  const isThere = (name: string): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
  const absent = [...PROGRAMS, ...OTHERS].filter((name) => !isThere(name));
  if (absent.length > 0) return `${absent.join(', ')} missing`;
  const tried = spawnSync('unshare', [...UNSHARE, 'sh', '-c', 'mount -t cgroup2 none /sys/fs/cgroup'], {
    encoding: 'utf8',
  });
  return tried.status === 0 ? false : `namespaces are refused here: ${tried.stderr.trim()}`;
}

export interface RanInside {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InsideOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Engine {
  /** A line of a shell, in the namespaces. `docker compose` is podman-compose there. */
  run(line: string, options?: InsideOptions): Promise<RanInside>;
  /** The same; throws unless it ends with 0. Gives stdout without the last line's end. */
  must(line: string, options?: InsideOptions): Promise<string>;
  end(): Promise<void>;
}

export async function startEngine(folder: string): Promise<Engine> {
  mkdirSync(folder, { recursive: true });
  const env = writeSettings(folder);
  const holder = spawn('unshare', [...UNSHARE, 'sh', '-c', HOLDER], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once('data', () => resolve());
    holder.once('close', () => reject(new Error('the namespaces could not be made')));
  });
  const children = `/proc/${holder.pid}/task/${holder.pid}/children`;
  const [first = ''] = readFileSync(children, 'utf8').split(' ');
  const enter = ['--target', first, '--mount', '--net', '--pid', '--'];
  const run = (line: string, options: InsideOptions = {}): Promise<RanInside> =>
    ran(
      spawn(
        'nsenter',
        [
          ...enter,
          'sh',
          '-c',
          `cd '${options.cwd ?? folder}' && ${line.replaceAll('docker compose', 'podman-compose')}`,
        ],
        {
          env: { ...env, ...options.env },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      ),
    );
  return {
    run,
    async must(line, options) {
      const { code, stdout, stderr } = await run(line, options);
      if (code !== 0) throw new Error(`${line}\nended with ${code}: ${stdout.slice(-4_000)}${stderr.slice(-4_000)}`);
      return stdout.trimEnd();
    },
    async end() {
      holder.kill('SIGKILL');
      await until(() => holder.exitCode !== null || holder.signalCode !== null, { what: 'the end of the namespaces' });
      await until(() => (rmSync(folder, { recursive: true, force: true }), true), { what: 'removal of the images' });
    },
  };
}

/** All files of the engine lie in the folder. */
function writeSettings(folder: string): Readonly<Record<string, string>> {
  const at = (name: string): string => join(folder, name);
  const write = (name: string, ...lines: readonly string[]): string => {
    writeFileSync(at(name), `${lines.join('\n')}\n`);
    return at(name);
  };
  const storage = write(
    'storage.conf',
    '[storage]',
    'driver = "overlay"',
    `graphroot = "${at('images')}"`,
    `runroot = "${at('run')}"`,
  );
  const containers = write(
    'containers.conf',
    '[containers]',
    'cgroups = "disabled"',
    'default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]',
    '[network]',
    'network_backend = "netavark"',
    `network_config_dir = "${at('networks')}"`,
    '[engine]',
    'cgroup_manager = "cgroupfs"',
    'runtime = "crun"',
    'events_logger = "file"',
    `tmp_dir = "${at('tmp')}"`,
  );
  return {
    PATH: `/usr/local/bin:${process.env['PATH']}:/usr/sbin:/sbin`,
    HOME: folder,
    TMPDIR: folder,
    CONTAINERS_STORAGE_CONF: storage,
    CONTAINERS_CONF: containers,
    // A build without namespaces of its own: with them it would want cgroups.
    BUILDAH_ISOLATION: 'chroot',
    // The other format has no health check.
    BUILDAH_FORMAT: 'docker',
  };
}

async function ran(child: ChildProcess): Promise<RanInside> {
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, ...text };
}
