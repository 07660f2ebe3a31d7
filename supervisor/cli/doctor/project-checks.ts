// Checks of the project folder: Node, package, lockfile, configuration, .env, token.
import { chmodSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRefused } from '../../../shared/config/checks/file-trust.ts';
import { strangeLines } from '../../../shared/config/environment.ts';
import { CONFIG_FILE, ENV_FILE } from '../../../shared/files/paths.ts';
import { untrustedFiles } from '../start/worker-entry.ts';
import { type Check, type Finding, fault, ok, repairable, type Subject, skip, warn, withConfig } from './check.ts';
import { nodeModules } from './modules-check.ts';
import { inRange } from './version-range.ts';

/** The Node versions that svc supports. */
const OWN_ENGINES = '^20.19.0 || >=22.12.0';
const SHORTEST_TOKEN = 16;

export const PROJECT_CHECKS: readonly Check[] = [
  { id: 'node.version', title: 'Node is one that svc and the project run on', run: nodeVersion },
  { id: 'node.modules', title: 'The installed packages fit this Node: SQLite loads and works', run: nodeModules },
  {
    id: 'package.scripts',
    title: 'package.json has build and start, and start passes signals on',
    run: packageScripts,
  },
  { id: 'package.lockfile', title: 'The lockfile is there and in step with package.json', run: lockfile },
  { id: 'config.valid', title: 'The configuration is valid for production', run: configValid },
  { id: 'env.rights', title: '.env can be read by its owner alone', run: envRights },
  { id: 'files.rights', title: 'Nobody else can change configuration and plugins', run: fileRights },
  {
    id: 'env.format',
    title: '.env is written so that every tool reads it alike',
    run: envFormat,
  },
  {
    id: 'token.strength',
    title: 'The token is long enough',
    run: withConfig(({ config }) => tokenStrength(config.http.token?.reveal() ?? '')),
  },
];

function nodeVersion({ node, manifest }: Subject): Finding {
  if (inRange(node, OWN_ENGINES) === false)
    return fault(`Node ${node} is not ${OWN_ENGINES}`, 'install a Node of that range');
  const engines = manifest?.['engines'];
  const range = typeof engines === 'object' && engines !== null && 'node' in engines ? String(engines.node) : undefined;
  if (range !== undefined && inRange(node, range) === false)
    return fault(
      `the project wants Node ${range}, this is ${node}`,
      'install a Node of that range, or change engines in package.json',
    );
  return ok(`Node ${node}`);
}

function packageScripts({ manifest }: Subject): Finding {
  if (manifest === undefined)
    return fault('package.json is missing or not JSON', 'svc init, in an empty folder, shows one');
  const scripts = manifest['scripts'];
  const of = (name: string): unknown =>
    typeof scripts === 'object' && scripts !== null ? (scripts as Readonly<Record<string, unknown>>)[name] : undefined;
  const missing = (['build', 'start'] as const).filter((name) => typeof of(name) !== 'string');
  if (missing.length > 0)
    return warn(
      `package.json has no script ${missing.join(' and ')}`,
      missing.map((name) => MADE_SCRIPTS[name]).join(' && '),
    );
  const start = String(of('start'));
  if (!/(^|&&\s*|;\s*)exec\s/.test(start))
    return warn(
      'the script start does not pass signals on: npm would leave the runtime behind',
      `npm pkg set scripts.start="exec ${start.replaceAll('"', '\\"')}"`,
    );
  return ok('build and start are there');
}

/** The commands that add the scripts of a new project. */
const MADE_SCRIPTS = {
  build: 'npm pkg set scripts.build="tsc -p ."',
  start: 'npm pkg set scripts.start="exec svc runtime start --mode production --no-watch"',
} as const;

const FOREIGN_LOCKFILES = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock'];

/** Searches this folder and those above it, as in a workspace. */
function lockfile({ paths, manifest }: Subject): Finding {
  for (let folder = paths.project; ; folder = dirname(folder)) {
    const text = readText(join(folder, 'package-lock.json'));
    if (text !== undefined)
      return folder === paths.project ? inStep(text, manifest) : ok(`the lockfile is in ${folder}`);
    const foreign = FOREIGN_LOCKFILES.find((name) => readText(join(folder, name)) !== undefined);
    if (foreign !== undefined) return ok(`${foreign} is there`);
    if (folder === dirname(folder)) return fault('there is no lockfile', 'npm install --package-lock-only');
  }
}

export function inStep(text: string, manifest: Subject['manifest']): Finding {
  let lock: { readonly packages?: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  try {
    lock = JSON.parse(text);
  } catch {
    return fault('package-lock.json is not JSON', 'npm install --package-lock-only');
  }
  const root = lock.packages?.[''] ?? {};
  const unlike = ['dependencies', 'devDependencies', 'optionalDependencies'].filter(
    (key) => JSON.stringify(sorted(root[key])) !== JSON.stringify(sorted(manifest?.[key])),
  );
  return unlike.length === 0
    ? ok('in step')
    : fault(`package-lock.json differs from package.json in ${unlike.join(', ')}`, 'npm install --package-lock-only');
}

const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : [];

function configValid({ config }: Subject): Finding {
  if ('fault' in config) return fault(config.fault, 'svc config check');
  const others = config.warnings.filter((warning) => !warning.startsWith(ENV_FILE));
  return others.length === 0 ? ok(`${CONFIG_FILE} is valid`) : warn(others.join('; '), 'svc config check');
}

function envRights({ paths }: Subject): Finding {
  const stat = lstatSync(paths.env, { throwIfNoEntry: false });
  if (stat === undefined) return skip('there is no .env');
  if ((stat.mode & 0o077) !== 0)
    return repairable(
      fault(`.env can be read by group or others (mode 0${(stat.mode & 0o777).toString(8)})`, `chmod 600 ${ENV_FILE}`),
      () => chmodSync(paths.env, 0o600),
    );
  const uid = process.getuid?.();
  if (uid !== undefined && stat.uid !== uid)
    return fault(`.env belongs to user ${stat.uid}, not to ${uid}`, `chown ${uid} ${ENV_FILE}`);
  return ok('only its owner can read it');
}

async function fileRights({ paths: { project }, env }: Subject): Promise<Finding> {
  const files = await untrustedFiles({ project, mode: 'production', environment: env });
  if (files.length === 0) return ok('only this user and root can');
  const reason = files.map(({ name, what }) => `${name} ${what}`).join('; ');
  const mendable = files.filter(({ why }) => why !== 'stranger');
  const fix = files.map(({ remedy }) => remedy).join(' && ');
  const finding = files.some(isRefused) ? fault(reason, fix) : warn(reason, fix);
  if (mendable.length === 0) return finding;
  return repairable(finding, () => {
    for (const { path, safeMode } of mendable) chmodSync(path, safeMode);
  });
}

/** A separate check, because a quoted value often causes an invalid configuration. */
function envFormat({ paths }: Subject): Finding {
  const text = readText(paths.env);
  if (text === undefined) return skip('there is no .env that could be read');
  const strange = strangeLines(text);
  return strange.length === 0
    ? ok('plain NAME=value lines')
    : warn(strange.join('; '), 'write NAME=value without quotes, blanks, # or $');
}

function tokenStrength(token: string): Finding {
  if (token === '') return skip('the configuration says what is wrong with it');
  if (token.length < SHORTEST_TOKEN)
    return warn(`http.token has under ${SHORTEST_TOKEN} characters`, 'svc token create');
  if (new Set(token).size < 6) return warn('http.token repeats a few characters', 'svc token create');
  return ok(`${token.length} characters`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // missing, or not readable for this user
  }
}
