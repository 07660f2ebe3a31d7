// The SQLite binding of this tree, packed as its install script looks for one before it compiles: an installation for the same ABI of Node then
// takes seconds and not minutes. `npm ci` of this tree has shown that it compiles.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './build/output.ts';

const PACKAGE = 'node_modules/better-sqlite3';
const BINDING = 'build/Release/better_sqlite3.node';

/** Puts the archive into the folder; gives the variables for `npm`. Where the name does not fit, npm compiles. */
export function prebuiltBinding(folder: string): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(join(ROOT, PACKAGE, 'package.json'), 'utf8')) as { version: string };
  const { versions, platform, arch } = process;
  const archive = join(folder, `better-sqlite3-v${version}-node-v${versions.modules}-${platform}-${arch}.tar.gz`);
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync('tar', ['-czf', archive, '-C', join(ROOT, PACKAGE), BINDING], { stdio: 'ignore' });
  return status === 0 ? { npm_config_better_sqlite3_local_prebuilds: folder } : {};
}
