// First half of `npm start`: builds when needed, makes a `.env` with a random token when there is none, and says what to
// open and type. The script then replaces its shell by the runtime (`exec`), so that signals and exit codes pass unchanged.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { ROOT } from './build/output.ts';

const ENV_FILE = join(ROOT, '.env');
const TOKEN_BYTES = 32;

function main(): number {
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', join(ROOT, '.ci/build.ts')], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) return status ?? 1;
  const made = makeEnvFile();
  const { host, port, base } = address();
  const token = parseEnv(readFileSync(ENV_FILE, 'utf8'))['HTTP_TOKEN'] ?? '';
  if (made) console.log('made .env (only you can read it) with a random token');
  console.log(`open    http://${host}:${port}${base}/`);
  // A token belongs on a terminal that somebody looks at, not into a log.
  console.log(`sign in ${process.stdout.isTTY ? token : 'with the value of HTTP_TOKEN in .env'}`);
  console.log('type    ping   or   remind me in 1m to stretch   or   /help');
  console.log('stop    Ctrl-C');
  return 0;
}

/** True when it made one. */
function makeEnvFile(): boolean {
  if (existsSync(ENV_FILE)) return false;
  writeFileSync(ENV_FILE, `HTTP_TOKEN=${randomBytes(TOKEN_BYTES).toString('base64url')}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  return true;
}

function address(): { host: string; port: string; base: string } {
  const http = section(section(parse(readFileSync(join(ROOT, 'svc.config.yml'), 'utf8')))['http']);
  const text = (name: string, fallback: string): string => resolve(`${http[name] ?? fallback}`, fallback);
  const host = text('host', '127.0.0.1');
  return { host: host.includes(':') ? `[${host}]` : host, port: text('port', '8068'), base: text('base', '') };
}

const section = (value: unknown): Readonly<Record<string, string | number | undefined>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, string | number | undefined>>) : {};

/** `${NAME}` and `${NAME:-default}` as the runtime reads them, for the line that is printed. */
const resolve = (value: string, fallback: string): string =>
  value.replace(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, name: string, other?: string) => process.env[name] ?? other ?? fallback,
  );

process.exitCode = main();
