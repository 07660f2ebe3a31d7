// `svc release check`: installs, builds and tries the new code beside the running one. Nothing of it serves, and no package of the running tree changes.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { projectPaths } from '../../../shared/files/paths.ts';
import { type ReleaseRecord, releaseFolder } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { treeOptions } from './begin.ts';
import { askSvc, type SvcCaller } from './svc-call.ts';
import { hashOfTree, installedCli, lockfileOf, makeTree, nextTree } from './tree.ts';

const STEP_MS = 900_000;

export type Results = ReleaseRecord['results'];

export interface Checked {
  readonly results: Results;
  readonly tree: string;
  readonly lockfile: string | null;
}

/** Throws `refused` at the first check that fails; the results up to it are in the log of the release. */
export async function checkTree(
  caller: SvcCaller,
  { name, source, restorePoint }: Pick<ReleaseRecord, 'name' | 'source' | 'restorePoint'>,
  say: (line: string) => void,
): Promise<Checked> {
  const { project } = caller;
  mkdirSync(releaseFolder(project, name), { recursive: true, mode: 0o700 });
  const log = join(releaseFolder(project, name), 'check.log');
  writeFileSync(log, '', { mode: 0o600 });
  const results: Record<string, Results[string]> = {};
  const run = async (step: string, work: () => Promise<string | undefined>): Promise<void> => {
    const startedAt = performance.now();
    const fault = await work();
    const ms = Math.round(performance.now() - startedAt);
    results[step] = { ok: fault === undefined, ms, detail: fault ?? null };
    say(`${step}: ${fault === undefined ? 'ok' : fault}`);
    if (fault !== undefined)
      throw new SvcError('refused', `${step} of the new code failed: ${fault}`, {
        hint: `${log} has all of it; nothing that serves was changed`,
      });
  };
  const next = await makeTree(name, source, treeOptions(caller));
  const npm = (args: readonly string[]) => runNpm(caller, { cwd: next, args, log });
  await run('install', () => npm(existsSync(join(next, 'package-lock.json')) ? ['ci'] : ['install']));
  await run('build', () => npm(['run', 'build', '--if-present']));
  await run('test', () => npm(['test', '--if-present']));
  await run('once', () => tryOnce(caller, next, log));
  await run('migrate', () => rehearse(caller, { next, restorePoint, log }));
  return { results, tree: hashOfTree(next), lockfile: lockfileOf(next) };
}

/** Whether the tree still is the one that was checked. */
export const isChecked = (project: string, { name, tree }: Pick<ReleaseRecord, 'name' | 'tree'>): boolean =>
  existsSync(nextTree(project, name)) && hashOfTree(nextTree(project, name)) === tree;

interface NpmCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly log: string;
}

/** Secrets of the project are not in the environment of npm. Returns the fault in one line. */
async function runNpm(
  { context: { env, signal } }: SvcCaller,
  { cwd, args, log }: NpmCall,
): Promise<string | undefined> {
  const { execa } = await import('execa');
  const result = await execa('npm', args, {
    cwd,
    env,
    extendEnv: false,
    reject: false,
    timeout: STEP_MS,
    cancelSignal: signal,
    stdin: 'ignore',
    all: true,
  });
  const text = String(result.all ?? '');
  appendFileSync(log, `$ npm ${args.join(' ')}\n${text}\n`);
  if (!result.failed) return undefined;
  if (result.timedOut) return `npm ${args.join(' ')} did not end within ${STEP_MS / 1_000} s`;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /npm (error|ERR!)/u.test(line)) ?? lines.at(-1) ?? `npm ended with ${result.exitCode}`;
}

/** Assembles the new code once, with the variables of the project. It serves nothing and connects to nothing. */
async function tryOnce(caller: SvcCaller, next: string, log: string): Promise<string | undefined> {
  const { env } = projectPaths(caller.project);
  const more = existsSync(env) ? (parseEnv(readFileSync(env, 'utf8')) as Record<string, string>) : {};
  const args = ['runtime', 'start', '--once', '--mode', 'test'];
  const { code, json, notes } = await askSvc({ ...caller, project: next }, args, { tree: next, more });
  appendFileSync(log, `$ svc ${args.join(' ')}\n${notes.join('\n')}\n`);
  if (code === 0) return undefined;
  const faults = json?.['faults'];
  const [first] = Array.isArray(faults) ? (faults as { readonly message?: string }[]) : [];
  return first?.message ?? notes.at(-1) ?? `svc ${args.join(' ')} ended with ${code}`;
}

/** The new svc restores the checkpoint aside and migrates it. */
async function rehearse(
  caller: SvcCaller,
  { next, restorePoint, log }: { readonly next: string; readonly restorePoint: string; readonly log: string },
): Promise<string | undefined> {
  const args = ['checkpoint', 'verify', restorePoint];
  const from = installedCli(next) === undefined ? {} : { tree: next };
  const { code, json, notes } = await askSvc(caller, args, from);
  appendFileSync(log, `$ svc ${args.join(' ')}\n${notes.join('\n')}\n`);
  if (code === 0) return undefined;
  const faults = json?.['faults'];
  const [first] = Array.isArray(faults) ? (faults as unknown[]) : [];
  return first === undefined ? (notes.at(-1) ?? `ended with ${code}`) : JSON.stringify(first);
}
