// Programs and git for a test, with a home of its own: nothing of the user's settings is read.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { TreeOptions } from '../../supervisor/cli/release/repository.ts';
import { removeLive } from './disk/remove-live.ts';
import { type TemporaryProject, temporaryProject } from './temporary-project.ts';

interface Place {
  readonly cwd: string;
  readonly home: string;
}

const environmentIn = (home: string): Readonly<Record<string, string | undefined>> => ({
  PATH: process.env['PATH'],
  HOME: home,
  GIT_CONFIG_NOSYSTEM: '1',
  npm_config_update_notifier: 'false',
});

/** Its output. Throws where it fails. */
export const runIn = (program: string, args: readonly string[], { cwd, home }: Place): string =>
  execFileSync(program, args, {
    cwd,
    env: environmentIn(home),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

type Git = (...args: readonly string[]) => string;

export const gitIn =
  (cwd: string, home: string): Git =>
  (...args) =>
    runIn('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd, home });

/** Commits whatever git does not ignore. Returns the commit. */
export function commitAll(git: Git, text: string): string {
  git('add', '-A');
  git('commit', '-q', '-m', text);
  return git('rev-parse', 'HEAD');
}

export interface GitProject extends TemporaryProject {
  /** Of the repository; the project itself unless it lies below. */
  readonly root: string;
  /** In the project. */
  readonly git: Git;
  readonly commit: (text: string) => string;
  readonly options: TreeOptions;
}

/** A project in git without a commit. `isBelowRoot`: in a folder of its repository, beside `other/`. */
export function gitProject(t: TestContext, { isBelowRoot }: { readonly isBelowRoot: boolean }): GitProject {
  const root = mkdtempSync(join(tmpdir(), 'svc-repository-'));
  const project = temporaryProject(t, { prefix: isBelowRoot ? join(basename(root), 'shop-') : 'shop-' });
  t.after(() => removeLive(root));
  const top = isBelowRoot ? dirname(project.path) : project.path;
  const home = join(root, 'home');
  mkdirSync(home);
  if (isBelowRoot) {
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other', 'main.js'), 'of another project\n');
    writeFileSync(join(root, '.gitignore'), '/home/\n');
  }
  project.write('.gitignore', '/node_modules/\n/.svc/\n/data/\n.env\n');
  mkdirSync(project.paths.stateDir, { mode: 0o700 });
  gitIn(top, home)('init', '-q', '-b', 'main');
  const git = gitIn(project.path, home);
  return {
    ...project,
    root: top,
    git,
    commit: (text) => commitAll(git, text),
    options: { project: project.path, env: environmentIn(home), signal: t.signal },
  };
}
