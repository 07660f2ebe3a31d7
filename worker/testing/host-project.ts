// The project folder of a test host: configuration, token, and the harness's packages.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TEST_HOST_VARIABLE } from '../../shared/config/mode.ts';
import type { HostOptions } from './host.ts';

export interface HostProject {
  readonly folder: string;
  readonly token: string;
  /** `http.base`. */
  readonly base: string;
}

type Keys = Readonly<Record<string, unknown>>;

/** Creates the folder. If it throws, the folder is removed. */
export function makeProject(options: HostOptions): HostProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-host-')));
  try {
    return fillProject(folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function fillProject(folder: string, { config = {}, plugins, files = {} }: HostOptions): HostProject {
  const token = randomBytes(32).toString('base64url');
  const write = (name: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode });
  };
  const http = (config['http'] ?? {}) as Keys;
  // JSON is valid YAML.
  write('svc.config.yml', JSON.stringify({ ...config, http: { ...http, ...OWN_KEYS }, ...slotsOf(config, plugins) }));
  write('.env', `HTTP_TOKEN=${token}\nSVC_ANY_PORT=1\n`, 0o600);
  write('package.json', '{"name":"test-host","version":"0.0.0","private":true,"type":"module"}\n');
  linkPackages(folder);
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { folder, token, base: String(http['base'] ?? '') };
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
/** `SVC_TEST_PORT` keeps the port of the first start over restarts. */
const OWN_KEYS = { host: '127.0.0.1', port: `\${${TEST_HOST_VARIABLE}}`, token: '${HTTP_TOKEN}' };
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration

function slotsOf(config: Keys, plugins: HostOptions['plugins']): Keys {
  if (plugins === undefined) return {};
  const slots = Object.entries(plugins).map(([slot, plugin]) => {
    if (typeof plugin === 'string' || plugin instanceof URL) return [slot, { use: fileOf(plugin) }];
    const { use } = plugin;
    const isNamed = typeof use === 'string' || use instanceof URL;
    return [slot, isNamed ? { ...plugin, use: fileOf(use) } : plugin];
  });
  return { plugins: { ...(config['plugins'] as Keys | undefined), ...(Object.fromEntries(slots) as Keys) } };
}

/** Resolves a path relative to the harness's working folder, wherever the project is. */
function fileOf(use: string | URL): string {
  if (use instanceof URL || use.startsWith('file:')) return fileURLToPath(use);
  return /^\.{1,2}\//.test(use) ? resolve(use) : use;
}

/** Links the harness's `node_modules` into the project. */
function linkPackages(folder: string): void {
  for (let at = process.cwd(); ; at = dirname(at)) {
    const packages = join(at, 'node_modules');
    if (existsSync(packages)) return symlinkSync(packages, join(folder, 'node_modules'), 'dir');
    if (at === dirname(at)) return;
  }
}
