// The git repository of a project. The project may be its root, or lie below it, beside others.
import { rmSync } from 'node:fs';
import { SvcError } from '../../../shared/svc-error.ts';

export interface TreeOptions {
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** The commit that a name stands for, in full. Throws `usage` where git does not know it. */
export async function commitOf(name: string, options: TreeOptions): Promise<string> {
  const { stdout, failed, stderr } = await git(options, ['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  if (!failed && /^[0-9a-f]{40,64}$/u.test(stdout)) return stdout;
  throw new SvcError('usage', `git knows no commit ${name} here${stderr === '' ? '' : `: ${stderr}`}`, {
    hint: 'git fetch brings commits of others; `svc release begin --from FOLDER` takes a folder',
  });
}

/** The commit that is checked out; undefined outside a repository. */
export async function presentCommit(options: TreeOptions): Promise<string | undefined> {
  const { stdout, failed } = await git(options, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  return failed || stdout === '' ? undefined : stdout;
}

/** Whether `older` is an ancestor of `newer`, or the same. */
export async function isAncestor(older: string, newer: string, options: TreeOptions): Promise<boolean> {
  return !(await git(options, ['merge-base', '--is-ancestor', older, newer])).failed;
}

/** Files that git tracks and that were changed since the last commit. */
export async function changedFiles(options: TreeOptions): Promise<readonly string[]> {
  const { stdout, failed } = await git(options, ['status', '--porcelain', '--untracked-files=no', '.']);
  return failed || stdout === '' ? [] : stdout.split('\n').map((line) => line.slice(3));
}

/** Path of the project in its repository, with a slash at its end; empty at the root, and outside of a repository. */
export const folderInRepository = async (options: TreeOptions): Promise<string> =>
  (await git(options, ['rev-parse', '--show-prefix'])).stdout;

/** Runs git with an index that has the files of a commit: neither HEAD nor the index of the repository changes. Undefined for an unknown commit. */
export async function withIndexOf<T>(
  { commit, file }: { readonly commit: string; readonly file: string },
  options: TreeOptions,
  work: (of: TreeOptions) => Promise<T>,
): Promise<T | undefined> {
  const of = { ...options, env: { ...options.env, GIT_INDEX_FILE: file } };
  rmSync(`${file}.lock`, { force: true }); // left by a git that was cut
  try {
    return (await git(of, ['read-tree', commit])).failed ? undefined : await work(of);
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Lets HEAD and the index follow the code that was switched. Not below the root of a repository: its other projects would seem to be changed. Returns
 * what git shows now, where that is not the commit.
 */
export async function moveHead(commit: string, options: TreeOptions): Promise<string | undefined> {
  if ((await folderInRepository(options)) !== '') {
    const head = await presentCommit(options);
    if (head === undefined || head === commit) return undefined;
    const [now, shown] = [commit, head].map((id) => id.slice(0, 12));
    return `the repository begins above the project, so HEAD stays at ${shown}: git shows files of ${now} as changed`;
  }
  for (const args of [
    ['update-ref', '--no-deref', '-m', 'svc release', 'HEAD', commit],
    ['read-tree', commit],
  ]) {
    const { failed, stderr } = await git(options, args);
    if (failed) return `git ${args[0]} failed: ${stderr}`;
  }
  return undefined;
}

/** `input`: its standard input. `isWhole`: with the newline at the end of its output. */
export async function git(
  { project, env, signal }: TreeOptions,
  args: readonly string[],
  { input, isWhole = false }: { readonly input?: string; readonly isWhole?: boolean } = {},
) {
  const { execa } = await import('execa');
  const { stdout, stderr, failed } = await execa('git', args, {
    cwd: project,
    env,
    extendEnv: false,
    reject: false,
    cancelSignal: signal,
    stripFinalNewline: !isWhole,
    ...(input === undefined ? { stdin: 'ignore' } : { input }),
  });
  return { stdout: String(stdout ?? ''), stderr: String(stderr ?? '').split('\n', 1)[0] ?? '', failed };
}
