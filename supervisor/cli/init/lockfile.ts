// Creates the lockfile of a new project with npm. Kept only if it locks this svc, and not another package of that name.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';

const NPM_TIMEOUT_MS = 180_000;
const NPM = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

export type LockfileResult = { readonly made: true } | { readonly made: false; readonly reason: string };

export interface LockfileOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Runs npm, which may take a minute. If npm cannot resolve the packages, returns the reason instead of throwing. */
export async function makeLockfile({ folder, env, signal }: LockfileOptions): Promise<LockfileResult> {
  const { execa } = await import('execa');
  const path = join(folder, 'package-lock.json');
  const result = await execa('npm', NPM, {
    cwd: folder,
    env,
    extendEnv: false,
    reject: false,
    timeout: NPM_TIMEOUT_MS,
    cancelSignal: signal,
    stdin: 'ignore',
    all: true,
  });
  if (result.failed) {
    rmSync(path, { force: true });
    return { made: false, reason: reasonOf(result) };
  }
  if (locksThisSvc(path)) return { made: true };
  rmSync(path, { force: true });
  return {
    made: false,
    reason:
      'the svc that the registry has is another package; give the right one with --svc, for example --svc file:../svc-0.1.0.tgz',
  };
}

/** npm's error in one line, without URLs. */
function reasonOf({
  all,
  timedOut,
  code,
}: {
  readonly all?: string | undefined;
  readonly timedOut: boolean;
  readonly code?: string | undefined;
}): string {
  if (timedOut) return `npm did not end within ${NPM_TIMEOUT_MS / 1_000} s`;
  if (code === 'ENOENT') return 'npm is not there';
  const line = (all ?? '')
    .split('\n')
    .find((text) => /npm (error|ERR!)/i.test(text) && !/npm (error|ERR!) code/i.test(text));
  return `npm could not resolve the packages${
    line === undefined
      ? ''
      : `: ${line
          .replace(/npm (error|ERR!)\s*/i, '')
          .replaceAll(/https?:\/\/\S+/g, '(registry)')
          .slice(0, 200)}`
  }`;
}

function locksThisSvc(path: string): boolean {
  const lock: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const packages = isRecord(lock) && isRecord(lock['packages']) ? lock['packages'] : {};
  const entry = packages['node_modules/svc'];
  if (!isRecord(entry)) return false;
  // A local folder is locked as a link, and the package itself is listed under its path.
  const found = entry['link'] === true ? packages[String(entry['resolved'])] : entry;
  const bin = isRecord(found) ? found['bin'] : undefined;
  return isRecord(bin) && String(bin['svc']).endsWith('dist/cli.js');
}
