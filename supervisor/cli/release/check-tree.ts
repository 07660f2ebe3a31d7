// `svc release check`: installs, builds and tries the new code beside the running one. Nothing of it serves, and no package of the running tree changes.
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { stableJson, syncFolder, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { CONFIG_FILE, projectPaths } from '../../../shared/files/paths.ts';
import { CHECKPOINT_FILES, checkpointFolder } from '../../../shared/recovery/layout.ts';
import { type ReleaseRecord, releaseFolder } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { maskFor } from './masked.ts';
import { askSvc, type SvcCaller, treeOptions } from './svc-call.ts';
import { syncCode } from './sync-code.ts';
import { hashOfTree, installedCli, isCopyOf, lockfileOf, makeTree, nextTree, previousTree } from './tree.ts';

const STEP_MS = 900_000;

export type Results = ReleaseRecord['results'];

export interface Checked {
  readonly results: Results;
  readonly tree: string;
  readonly lockfile: string | null;
}

/** Runs one check, keeps its result, and throws `refused` with the log where it fails. */
function checking(
  log: string,
  results: Record<string, Results[string]>,
  { say, what = 'the new code' }: { readonly say: (line: string) => void; readonly what?: string },
) {
  return async (step: string, work: () => Promise<string | undefined>): Promise<void> => {
    const startedAt = performance.now();
    const fault = await work();
    const ms = Math.round(performance.now() - startedAt);
    results[step] = { ok: fault === undefined, ms, detail: fault ?? null };
    say(`${step}: ${fault === undefined ? 'ok' : fault}`);
    if (fault !== undefined)
      throw new SvcError('refused', `${step} of ${what} failed: ${fault}`, {
        hint: `${log} has all of it; nothing that serves was changed`,
      });
  };
}

/** All checks but that of the restore point. Throws `refused` at the first that fails; its words are in the log of the release. */
export async function checkTree(
  caller: SvcCaller,
  { name, source, owner = '' }: Pick<ReleaseRecord, 'name' | 'source'> & { readonly owner?: string },
  say: (line: string) => void,
): Promise<Checked> {
  const log = logOf(caller.project, name);
  writeFileSync(log, '', { mode: 0o600 });
  const results: Record<string, Results[string]> = {};
  const run = checking(log, results, { say });
  const next = await makeTree(nextTree(caller.project, name), source, treeOptions(caller));
  await install(caller, { tree: next, log, run });
  await run('test', () => runNpm(caller, { cwd: next, args: ['test', '--if-present'], log }));
  const asked = SERVICES.includes(owner) ? DOCTOR_CHECKS : [...DOCTOR_CHECKS, CONFIGURATION];
  await run('doctor', () => askDoctor(caller, { next, asked, log }));
  await run('once', () => tryOnce(caller, next, log));
  await syncCode(next, treeOptions(caller));
  syncFolder(releaseFolder(caller.project, name));
  return {
    results,
    tree: await hashOfTree(next, source, treeOptions(caller)),
    lockfile: lockfileOf(next),
  };
}

async function install(
  caller: SvcCaller,
  { tree, log, run }: { readonly tree: string; readonly log: string; readonly run: ReturnType<typeof checking> },
): Promise<void> {
  const npm = (args: readonly string[]) => runNpm(caller, { cwd: tree, args, log });
  await run('install', () => npm(existsSync(join(tree, 'package-lock.json')) ? ['ci'] : ['install']));
  await run('build', () => npm(['run', 'build', '--if-present']));
}

/** What a checkpoint keeps of code that is too large for it. */
const NO_CODE: ReadonlySet<string> = new Set([CONFIG_FILE, 'package.json', 'package-lock.json']);

/** Makes the code of before anew, where what a rollback needs was removed: of its commit, else of the restore point. Its configuration is of that. */
export async function makeFormer(
  caller: SvcCaller,
  { name, source, before: { commit }, restorePoint }: ReleaseRecord,
  say: (line: string) => void,
): Promise<void> {
  const { project } = caller;
  const log = logOf(project, name);
  const kept = join(checkpointFolder(project, restorePoint), CHECKPOINT_FILES.project);
  const tree = `${previousTree(project, name)}.anew`;
  const hasCode = existsSync(kept) && readdirSync(kept).some((entry) => !NO_CODE.has(entry));
  const isCommit = commit !== null && (source.kind === 'commit' || !hasCode);
  if (!isCommit && !hasCode)
    throw new SvcError('refused', `the code of before was removed, and ${restorePoint} does not keep it`, {
      hint: `put it into ${previousTree(project, name)}, with its packages, then: svc release rollback`,
    });
  const from = isCommit ? ({ kind: 'commit', value: commit } as const) : ({ kind: 'folder', value: kept } as const);
  await makeTree(tree, from, treeOptions(caller));
  if (existsSync(join(kept, CONFIG_FILE))) cpSync(join(kept, CONFIG_FILE), join(tree, CONFIG_FILE));
  await install(caller, { tree, log, run: checking(log, {}, { say, what: 'the code of before' }) });
  await syncCode(tree, treeOptions(caller));
  renameSync(tree, previousTree(project, name));
  syncFolder(releaseFolder(project, name));
}

export interface CheckedPoint {
  readonly results: Results;
  /** The svc that has migrated it, and to which schema; null where it did not say. */
  readonly svc: string | null;
  readonly schema: number | null;
}

/** The last check: the new svc restores the restore point aside, and migrates it. */
export async function checkRestorePoint(
  caller: SvcCaller,
  { name, restorePoint }: Pick<ReleaseRecord, 'name' | 'restorePoint'>,
  say: (line: string) => void,
): Promise<CheckedPoint> {
  const log = logOf(caller.project, name);
  const results: Record<string, Results[string]> = {};
  const next = nextTree(caller.project, name);
  let told: Readonly<Record<string, unknown>> | undefined;
  const run = checking(log, results, { say });
  await run('migrate', async () => {
    const { fault, json } = await rehearse(caller, { next, restorePoint, log });
    told = json;
    return fault;
  });
  const { svc, schema } = told ?? {};
  return {
    results,
    svc: typeof svc === 'string' ? svc : null,
    schema: typeof schema === 'number' ? schema : null,
  };
}

function logOf(project: string, name: string): string {
  mkdirSync(releaseFolder(project, name), { recursive: true, mode: 0o700 });
  return join(releaseFolder(project, name), 'check.log');
}

/** Folder of a tree that was checked before a release began, so that ingress is paused for seconds. */
const AHEAD = 'ahead';

interface Ahead extends Checked {
  readonly source: ReleaseRecord['source'];
}

/** Checks a tree before `begin`. It is used by the release that names the same source, while it is as it was checked. */
export async function checkAhead(
  caller: SvcCaller,
  source: ReleaseRecord['source'],
  say: (line: string) => void,
): Promise<Checked> {
  rmSync(aheadFile(caller.project), { force: true });
  const checked = await checkTree(caller, { name: AHEAD, source }, say);
  writeFileAtomic(aheadFile(caller.project), stableJson({ ...checked, source } satisfies Ahead));
  return checked;
}

/** Takes the tree that was checked before. Undefined where there is none of this source, or where it has changed since: then it is checked anew. */
export async function takeAhead(
  caller: SvcCaller,
  { name, source }: Pick<ReleaseRecord, 'name' | 'source'>,
): Promise<Checked | undefined> {
  const { project } = caller;
  const file = aheadFile(project);
  if (!existsSync(file)) return undefined;
  const { source: known, ...checked } = JSON.parse(readFileSync(file, 'utf8')) as Ahead;
  if (known.kind !== source.kind || known.value !== source.value) return undefined;
  if (!(await isChecked(caller, { name: AHEAD, source, tree: checked.tree }))) return undefined;
  // A folder may have moved on since: its files are compared with the tree, without what a build has made.
  if (source.kind === 'folder' && !isCopyOf(source.value, nextTree(project, AHEAD))) return undefined;
  mkdirSync(releaseFolder(project, name), { recursive: true, mode: 0o700 });
  rmSync(nextTree(project, name), { recursive: true, force: true });
  renameSync(nextTree(project, AHEAD), nextTree(project, name));
  syncFolder(releaseFolder(project, name));
  rmSync(releaseFolder(project, AHEAD), { recursive: true, force: true });
  return checked;
}

const aheadFile = (project: string): string => join(releaseFolder(project, AHEAD), 'checked.json');

/** Whether the tree still is the one that was checked. */
export async function isChecked(
  caller: SvcCaller,
  { name, source, tree }: Pick<ReleaseRecord, 'name' | 'source' | 'tree'>,
): Promise<boolean> {
  const next = nextTree(caller.project, name);
  return existsSync(next) && (await hashOfTree(next, source, treeOptions(caller))) === tree;
}

interface NpmCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly log: string;
}

/** Secrets of the project are not in the environment of npm; scripts may read them from `.env`. Returns the fault in one line. */
async function runNpm(
  { project, context: { env, signal } }: SvcCaller,
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
  const text = maskFor({ project, env, tree: cwd })(String(result.all ?? ''));
  appendFileSync(log, `$ npm ${args.join(' ')}\n${text}\n`);
  if (!result.failed) return undefined;
  if (result.timedOut) return `npm ${args.join(' ')} did not end within ${STEP_MS / 1_000} s`;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /npm (error|ERR!)/u.test(line)) ?? lines.at(-1) ?? `npm ended with ${result.exitCode}`;
}

/** What can be told of code that is not in its place: state, ports, owner and rights are of the project. */
const DOCTOR_CHECKS = ['node.version', 'node.modules', 'plugins.found'];
/** Asked where the host has the variables of this command: a unit or an agent may get more than `.env` has. */
const CONFIGURATION = 'config.valid';
const SERVICES = ['systemd', 'launchd'];

interface DoctorResult {
  readonly id: string;
  readonly status: string;
  readonly reason: string;
  readonly fix?: string;
}

/** The new svc looks at the new code as it would in production. Compiled plugins are there behind the build. */
async function askDoctor(
  caller: SvcCaller,
  { next, asked, log }: { readonly next: string; readonly asked: readonly string[]; readonly log: string },
): Promise<string | undefined> {
  const args = ['doctor', '--only', asked.join(',')];
  const { code, json, notes } = await askTree(caller, next, args);
  const results = Array.isArray(json?.['checks']) ? (json['checks'] as DoctorResult[]) : [];
  const lines = results.map(({ id, status, reason }) => `${status} ${id}: ${reason}`);
  appendFileSync(log, `$ svc ${args.join(' ')}\n${[...lines, ...notes].join('\n')}\n`);
  if (code === 0) return undefined;
  const failed = results.find(({ status }) => status === 'error');
  if (failed === undefined) return notes.at(-1) ?? `svc doctor ended with ${code}`;
  return `${failed.id}: ${failed.reason}${failed.fix === undefined ? '' : `. What mends it: ${failed.fix}`}`;
}

/** Asks the svc of the new code about that, with the variables of the project. */
function askTree(caller: SvcCaller, next: string, args: readonly string[]): ReturnType<typeof askSvc> {
  const { env } = projectPaths(caller.project);
  const more = existsSync(env) ? (parseEnv(readFileSync(env, 'utf8')) as Record<string, string>) : {};
  return askSvc({ ...caller, project: next }, args, { tree: next, more });
}

/** Assembles the new code once. It serves nothing and connects to nothing. */
async function tryOnce(caller: SvcCaller, next: string, log: string): Promise<string | undefined> {
  const args = ['runtime', 'start', '--once', '--mode', 'test'];
  const { code, json, notes } = await askTree(caller, next, args);
  appendFileSync(log, `$ svc ${args.join(' ')}\n${notes.join('\n')}\n`);
  if (code === 0) return undefined;
  const faults = json?.['faults'];
  const [first] = Array.isArray(faults) ? (faults as { readonly message?: string }[]) : [];
  return first?.message ?? notes.at(-1) ?? `svc ${args.join(' ')} ended with ${code}`;
}

/** The state alone: the code in the restore point is that of before, which the new svc need not be able to assemble. */
export const rehearsalOf = (restorePoint: string): readonly string[] => [
  'checkpoint',
  'verify',
  restorePoint,
  '--state',
];

/** The new svc restores the checkpoint aside and migrates it. Returns the fault, and what it says. */
async function rehearse(
  caller: SvcCaller,
  { next, restorePoint, log }: { readonly next: string; readonly restorePoint: string; readonly log: string },
): Promise<{ readonly fault: string | undefined; readonly json: Readonly<Record<string, unknown>> | undefined }> {
  const args = rehearsalOf(restorePoint);
  const from = installedCli(next) === undefined ? {} : { tree: next };
  const { code, json, notes } = await askSvc(caller, args, from);
  appendFileSync(log, `$ svc ${args.join(' ')}\n${notes.join('\n')}\n`);
  if (code === 0) return { fault: undefined, json };
  const faults = json?.['faults'];
  const [first] = Array.isArray(faults) ? (faults as unknown[]) : [];
  return { fault: first === undefined ? (notes.at(-1) ?? `ended with ${code}`) : JSON.stringify(first), json };
}
