// The project as `svc deploy init` sees it: its names, scripts and lockfile. Refuses a project that no machine but this one could start.
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';
import { readYaml } from '../../../shared/config/yaml-tree.ts';
import { CONFIG_FILE, projectPaths } from '../../../shared/files/paths.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { inStep } from '../doctor/project-checks.ts';

/** The line that `svc init` writes as `start`. */
export const INIT_START = 'exec node node_modules/svc/dist/cli.js runtime start --mode production --no-watch';

/** Port of a host that no reference moves. */
export const DEPLOY_PORT = 8_068;

/** Long enough for every resource, short enough for a label of Kubernetes with something behind it. */
const LONGEST_NAME = 40;

export interface DeployProject {
  readonly folder: string;
  /** Name of image, unit and resources: `@acme/My_Bot` gives `acme-my-bot`. */
  readonly name: string;
  readonly scripts: { readonly build: string; readonly start: string };
  /** Of the svc that the lockfile holds; undefined where it does not say. */
  readonly lockedVersion: string | undefined;
  /** Files inside the project from which packages are installed: `vendor/svc-0.1.0.tgz`. */
  readonly packedFiles: readonly string[];
  /** Folders inside the project that are packages, linked into `node_modules`. */
  readonly linkedFolders: readonly string[];
  /** Values of the configuration as they are written, references in place. Undefined where the key is missing. */
  readonly raw: (path: readonly string[]) => unknown;
}

/** Throws `refused` with what has to be mended first. */
export function deployProject(folder: string, name: string | undefined): DeployProject {
  const paths = projectPaths(folder);
  const manifest = readRecord(paths.packageJson, 'npm init');
  const scripts = isRecord(manifest['scripts']) ? manifest['scripts'] : {};
  const { build, start } = scripts;
  for (const [script, value] of [
    ['build', build],
    ['start', start],
  ] as const)
    if (typeof value !== 'string' || value.trim() === '')
      throw refused(
        `package.json has no script ${script}`,
        `add it; svc init writes ${script === 'start' ? INIT_START : 'tsc -p .'}`,
      );
  if (!existsSync(paths.lockfile)) throw refused('there is no package-lock.json', 'npm install --package-lock-only');
  const lock = readRecord(paths.lockfile, 'npm install --package-lock-only');
  const step = inStep(readFileSync(paths.lockfile, 'utf8'), manifest);
  if (step.status !== 'ok') throw refused(step.reason, 'npm install --package-lock-only');
  const yaml = readYaml(readFileSync(paths.config, 'utf8')).value;
  return {
    folder,
    name: fittingName(name ?? String(manifest['name'] ?? '')),
    scripts: { build: String(build), start: String(start) },
    lockedVersion: lockedVersion(lock),
    packedFiles: packedFiles(folder, lock),
    linkedFolders: linkedFolders(lock),
    raw: (path) => path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), yaml),
  };
}

/** Throws `refused` unless host and port of the HTTP interface can be set from outside. */
export function requireReferences({ raw }: DeployProject): void {
  for (const [key, variable, usual] of [
    ['host', 'HTTP_HOST', '127.0.0.1'],
    ['port', 'HTTP_PORT', DEPLOY_PORT],
  ] as const)
    if (!new RegExp(String.raw`^\$\{${variable}(:-[^}]*)?\}$`, 'u').test(String(raw(['http', key]) ?? '')))
      throw refused(
        `http.${key} in ${CONFIG_FILE} is no reference to ${variable}: in a container nobody could reach it`,
        `${key}: \${${variable}:-${usual}}`,
      );
}

/** Longer than the drain, for the last steps of a stop. */
const STOP_MARGIN_SECONDS = 5;
const SHORTEST_STOP_SECONDS = 20;

/** How long an owner waits between SIGTERM and its kill: never shorter than the drain that the project sets. */
export function stopSeconds({ raw }: DeployProject, shortest = SHORTEST_STOP_SECONDS): number {
  const drain = raw(['supervisor', 'stopTimeoutSeconds']);
  return Math.max(shortest, typeof drain === 'number' ? drain + STOP_MARGIN_SECONDS : 0);
}

export const refused = (message: string, hint: string): SvcError => new SvcError('refused', message, { hint });

export function fittingName(name: string): string {
  const fitting = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .slice(0, LONGEST_NAME)
    .replaceAll(/^-+|-+$/gu, '');
  if (/^[a-z]/u.test(fitting)) return fitting;
  if (fitting === '') throw refused(`no name can be made of ${JSON.stringify(name)}`, 'give one: --name my-bot');
  return `svc-${fitting}`;
}

function lockedVersion(lock: Readonly<Record<string, unknown>>): string | undefined {
  const entry = isRecord(lock['packages']) ? lock['packages']['node_modules/svc'] : undefined;
  return isRecord(entry) && typeof entry['version'] === 'string' ? entry['version'] : undefined;
}

/** Throws `refused` for a package that lies outside of the project or is a link: no other machine has it. */
function packedFiles(folder: string, lock: Readonly<Record<string, unknown>>): readonly string[] {
  const packages = isRecord(lock['packages']) ? lock['packages'] : {};
  return Object.entries(packages).flatMap(([path, entry]) => {
    if (!isRecord(entry)) return [];
    const resolved = String(entry['resolved'] ?? '');
    if (entry['link'] === true && isOutside(folder, resolved))
      throw refused(
        `${path} is a link to ${resolved}, which is outside of the project`,
        'npm pack it into vendor/, and npm install ./vendor/<file>.tgz',
      );
    if (!resolved.startsWith('file:')) return [];
    const file = resolved.slice('file:'.length);
    if (isOutside(folder, file))
      throw refused(
        `${path} is locked as ${resolved}, outside of the project`,
        'put the file into vendor/ and install it from there',
      );
    return [file];
  });
}

const linkedFolders = ({ packages }: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.values(isRecord(packages) ? packages : {}).flatMap((entry) =>
    isRecord(entry) && entry['link'] === true ? [String(entry['resolved'])] : [],
  );

const isOutside = (folder: string, path: string): boolean => {
  const from = relative(folder, join(isAbsolute(path) ? '/' : folder, path));
  return from.startsWith('..') || isAbsolute(from);
};

function readRecord(path: string, hint: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isRecord(value)) return value;
  } catch {
    // missing, or no JSON
  }
  throw refused(`${path} is missing or no JSON object`, hint);
}
