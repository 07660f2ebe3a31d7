// Creates the lockfile of a new project with npm. Kept only if it locks this svc, and not another package of that name.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';
import { runNpm } from './run-npm.ts';

const NPM = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

export type LockfileResult = { readonly made: true } | { readonly made: false; readonly reason: string };

export interface LockfileOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Runs npm, which may take a minute. If npm cannot resolve the packages, returns the reason instead of throwing. */
export async function makeLockfile({ folder, env, signal }: LockfileOptions): Promise<LockfileResult> {
  const path = join(folder, 'package-lock.json');
  const failure = await runNpm(NPM, { cwd: folder, env, signal });
  if (failure !== undefined) {
    rmSync(path, { force: true });
    return {
      made: false,
      reason: failure.startsWith('npm ') ? failure : `npm could not resolve the packages: ${failure}`,
    };
  }
  // A setting of npm may keep it from writing one (package-lock=false).
  if (!existsSync(path)) return { made: false, reason: 'npm wrote none: see package-lock in npm config list' };
  if (locksThisSvc(path)) return { made: true };
  rmSync(path, { force: true });
  return {
    made: false,
    reason:
      'the svc that the registry has is another package; leave --svc out, or give the right one, for example --svc file:vendor/svc-0.1.0.tgz',
  };
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
