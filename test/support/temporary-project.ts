// A project of one's own for a test: configuration, .env with a random token, package.json; gone with the test.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { type ProjectPaths, projectPaths } from '../../shared/files/paths.ts';
import { removeLive } from './disk/remove-live.ts';

export interface TemporaryProjectOptions {
  /** YAML text as it is, or top-level keys that replace those of the default. `null`: no file. */
  readonly config?: string | Readonly<Record<string, unknown>> | null;
  /** More lines of `.env`; `HTTP_TOKEN` is random unless given, and port 0 is allowed. */
  readonly env?: Readonly<Record<string, string>>;
  /** Source text by path below `plugins/`; the project then finds this repository as the package `svc`. */
  readonly plugins?: Readonly<Record<string, string>>;
  /** Start of the folder's name, for paths that are long, or hold blanks. */
  readonly prefix?: string;
}

export interface TemporaryProject {
  readonly path: string;
  readonly paths: ProjectPaths;
  /** The full-scope token, in `.env` as HTTP_TOKEN. */
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
  /** Replaces a file of the project; folders are made. */
  write(name: string, text: string): void;
  read(name: string): string;
}

/** The part of a test's context that this needs. */
export interface Cleanup {
  after(run: () => void | Promise<void>): void;
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

const DEFAULT_CONFIG = {
  host: { name: 'test' },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  http: { port: 0, token: '${HTTP_TOKEN}' },
  plugins: { sandbox: {}, echo: {}, ping: {}, help: {} },
};

export function temporaryProject(
  t: Cleanup,
  { config = {}, env = {}, plugins, prefix = 'svc-test-' }: TemporaryProjectOptions = {},
): TemporaryProject {
  const path = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  t.after(() => remove(path));
  // SVC_ANY_PORT lets http.port be 0.
  const variables = { HTTP_TOKEN: randomBytes(32).toString('base64url'), SVC_ANY_PORT: '1', ...env };
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };

  if (config !== null)
    write('svc.config.yml', typeof config === 'string' ? config : stringify({ ...DEFAULT_CONFIG, ...config }));
  write(
    '.env',
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  chmodSync(join(path, '.env'), 0o600);
  write(
    'package.json',
    `${JSON.stringify({ name: 'test-project', version: '1.0.0', private: true, type: 'module' }, null, 2)}\n`,
  );
  write(
    'package-lock.json',
    `${JSON.stringify({ name: 'test-project', version: '1.0.0', lockfileVersion: 3, requires: true, packages: { '': { name: 'test-project', version: '1.0.0' } } }, null, 2)}\n`,
  );
  for (const [name, source] of Object.entries(plugins ?? {})) write(join('plugins', name), source);
  if (plugins !== undefined) {
    mkdirSync(join(path, 'node_modules'), { recursive: true });
    symlinkSync(REPOSITORY, join(path, 'node_modules', 'svc'), 'dir');
  }
  return {
    path,
    paths: projectPaths(path),
    token: variables.HTTP_TOKEN,
    env: variables,
    write,
    read: (name) => readFileSync(join(path, name), 'utf8'),
  };
}

// Hooks run in the order in which they were made: a process of the test may still write here, and ends later.
function remove(path: string): void {
  try {
    removeLive(path);
  } catch {
    process.once('exit', () => removeLive(path));
  }
}
