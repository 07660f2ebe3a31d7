// Loads svc.config.yml: read → parse → resolve references → validate → cross-check → wrap secrets → freeze.
//
//   LOAD-1  All faults are reported at once, each with file, line, column and key.
//   LOAD-2  Loading writes no file and binds no port. Any file is answered in under a second.
//   LOAD-3  Secrets are returned as `Secret`. No message, warning or version holds one. The version is a digest of the effective values.
//           For the digest, secrets and plugins' environment values are replaced by their references.
//   LOAD-4  The result is frozen. `.env` is read again at each call.
//   LOAD-5  In production, files that other users can change are rejected.

import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { stableJson } from '../files/atomic-file.ts';
import { CONFIG_FILE, type ProjectPaths, projectPaths } from '../files/paths.ts';
import { withoutSecrets } from '../log/redaction.ts';
import { refusePendingSwitch } from '../recovery/pending-switch.ts';
import { Secret } from '../secret.ts';
import { crossChecks } from './checks/cross-checks.ts';
import { judgeProject } from './checks/file-trust.ts';
import { sharedSecrets } from './checks/shared-secrets.ts';
import { readSmallFile } from './checks/small-file.ts';
import { tokenChecks } from './checks/token-checks.ts';
import { type Environment, type ProjectEnvironment, projectEnvironment } from './environment.ts';
import { explain, valueAt } from './explain.ts';
import {
  type ConfigFault,
  configError,
  dotted,
  type Finding,
  lastOf,
  type Place,
  parentOf,
  pointerTo,
} from './fault.ts';
import type { Mode } from './mode.ts';
import { placeholderSecret, type Resolved, type ResolvedReference, resolveTree } from './resolve.ts';
import { isRecord, type JsonSchema, schemaOfKey } from './schema/json-schema.ts';
import type { Config } from './schema/schema.ts';
import { configSchema, validateConfig } from './schema/validator.ts';
import { readYaml, type YamlTree } from './yaml-tree.ts';

export type { Config } from './schema/schema.ts';

/** Tests set this to 1 to allow `http.port: 0`. */
const ANY_PORT = 'SVC_ANY_PORT';

export interface LoadOptions {
  readonly project: string;
  readonly mode: Mode;
  /** The process environment, without `.env`. */
  readonly environment: Environment;
  /** For reports only: in test mode the host's weak or missing secrets are then warnings. A process that listens never sets it. */
  readonly servesNothing?: boolean;
}

export type ValueSource = 'file' | 'env' | 'default';

export interface LoadedConfig {
  readonly config: Config;
  readonly mode: Mode;
  /** `sha256:…`. Equal effective values have equal versions, whatever the file looks like. */
  readonly version: string;
  readonly warnings: readonly string[];
  /** Every resolved secret, for redaction. */
  readonly secrets: readonly string[];
  /** Process environment and `.env` merged. */
  readonly environment: Environment;
  /** Which of the two defines a variable. */
  readonly origin: (name: string) => 'process' | '.env' | undefined;
  /** Source of the value at a JSON pointer. */
  readonly source: (path: string) => ValueSource;
  /** Position of a key in the file. */
  readonly position: (path: string) => Place | undefined;
  readonly references: ReadonlyMap<string, ResolvedReference>;
  /** Paths of the host's own secrets. */
  readonly secretKeys: ReadonlySet<string>;
  /** Plugin paths whose variable is unset, with the variable's name. Test mode only. */
  readonly unset: ReadonlyMap<string, string>;
  /** Path of the file. */
  readonly file: string;
}

/** Reads the configuration of a project. Throws SvcError `config_invalid` or `secret_invalid` with `details.faults`. */
export function loadConfig({ project, mode, environment, servesNothing = false }: LoadOptions): LoadedConfig {
  const lenient = mode === 'test' && servesNothing;
  const paths = projectPaths(project);
  const trust = judgeProject(project, mode);
  if (trust.error !== undefined) throw trust.error;
  const variables = projectEnvironment({ file: paths.env, mode, environment });
  const yaml = readFile(paths.config);
  const resolved = resolveTree(yaml.value ?? {}, configSchema, { environment: variables, mode, lenient });
  const checked = check(resolved, { lenient, anyPort: mode === 'test' || variables.values[ANY_PORT] === '1', paths });
  const findings = checked.findings.map((finding) => withoutSecretsIn(finding, resolved.secrets));
  refuse([...yaml.findings, ...findings], yaml, variables.warnings[0]);
  const value = named(resolved.value as Record<string, unknown>, paths);
  return {
    config: freeze(wrapSecrets(value, configSchema)) as Config,
    mode,
    version: versionOf(value, resolved.references),
    warnings: [
      ...trust.warnings,
      ...variables.warnings,
      ...resolved.warnings,
      ...[...yaml.warnings, ...checked.warnings].map((finding) => warningLine(finding, placesOf(yaml))),
    ],
    secrets: [...resolved.secrets],
    environment: variables.values,
    origin: variables.origin,
    ...lookups(yaml, resolved, variables),
    references: resolved.references,
    secretKeys: resolved.secretKeys,
    unset: resolved.unset,
    file: paths.config,
  };
}

function readFile(path: string): YamlTree {
  const read = readSmallFile(path, { takesMark: false });
  if (read.kind === 'text') {
    const yaml = readYaml(read.text);
    if (yaml.findings.length === 0 && yaml.value !== null && !isRecord(yaml.value))
      refuse([{ path: '', message: 'must hold keys, like http:' }], yaml);
    // Text that is not valid YAML has no keys to check.
    if (!isRecord(yaml.value) || yaml.findings.some(({ path: at }) => at === '')) refuse(yaml.findings, yaml);
    return yaml;
  }
  if (read.kind === 'absent') refusePendingSwitch(dirname(path)); // a switch of code may have moved it away
  const message = read.kind === 'absent' ? 'is not there; `svc init` makes one' : read.reason;
  const place = read.kind === 'refused' && read.place !== undefined ? { place: read.place } : {};
  return (
    refuse([{ path: '', message, ...place }], { places: new Map() }) ?? {
      value: {},
      findings: [],
      warnings: [],
      places: new Map(),
    }
  );
}

function check(
  resolved: Resolved,
  { lenient, anyPort, paths }: { readonly lenient: boolean; readonly anyPort: boolean; readonly paths: ProjectPaths },
): { findings: readonly Finding[]; warnings: readonly Finding[] } {
  const known = new Set(resolved.findings.map(({ path }) => path));
  const errors = validateConfig(resolved.value);
  // Port 0 means any free port. Only tests allow it, since clients could not find the host.
  const isFreePort = ({ path }: Finding): boolean =>
    anyPort && path === '/http/port' && valueAt(resolved.value, path) === 0;
  const schema = explain(errors, {
    root: configSchema,
    value: resolved.value,
    reference: (path) => resolved.references.get(path),
  });
  const cross = crossChecks(resolved.value, paths);
  const tokens = tokenChecks(resolved.value, resolved.references, lenient);
  const missing = (finding: Finding): boolean => lenient && finding.secret === true;
  for (const { path } of schema.filter(missing)) giveSecret(resolved.value, path);
  const told = [
    ...resolved.findings,
    ...schema.filter((finding) => !known.has(finding.path) && !missing(finding) && !isFreePort(finding)),
  ];
  const toldPaths = new Set(told.map(({ path }) => path));
  const shared = sharedSecrets(resolved.references, resolved.secretKeys);
  const others = [...cross.findings, ...shared].filter(({ path }) => !toldPaths.has(path));
  const findings = [...told, ...others, ...tokens.findings];
  return { findings, warnings: [...schema.filter(missing), ...cross.warnings, ...tokens.warnings] };
}

/** Gives a missing secret an unguessable value, if the process serves nothing. */
function giveSecret(tree: unknown, path: string): void {
  const parent = valueAt(tree, parentOf(path));
  if (isRecord(parent)) parent[lastOf(path)] = placeholderSecret();
}

/** Throws if there are findings. */
function refuse(findings: readonly Finding[], yaml: Pick<YamlTree, 'places'>, strangeLine?: string): undefined {
  if (findings.length === 0) return undefined;
  const faults = findings
    .map((finding) => locate(finding, placesOf(yaml)))
    .sort((a, b) => a.line - b.line || a.column - b.column);
  const code = findings.every(({ secret }) => secret === true) ? 'secret_invalid' : 'config_invalid';
  throw configError(faults, code, strangeLine);
}

/** A fault may quote the value at its key. */
function withoutSecretsIn(finding: Finding, secrets: ReadonlySet<string>): Finding {
  const { message, suggestion } = finding;
  const shown = suggestion === undefined ? {} : { suggestion: withoutSecrets(suggestion, secrets) };
  return { ...finding, message: withoutSecrets(message, secrets), ...shown };
}

/** Maps paths to positions in the file. */
interface Places {
  readonly position: (path: string) => Place | undefined;
}

/** A finding at its own position, or at that of the nearest enclosing key. */
export function locate({ path, message, suggestion, place }: Finding, places: Places): ConfigFault {
  const { line, column } = place ?? placeOf(path, places);
  return { file: CONFIG_FILE, line, column, path, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

function placeOf(path: string, places: Places): Place {
  for (let at = path; at !== ''; at = parentOf(at)) {
    const place = places.position(at);
    if (place !== undefined) return place;
  }
  return { line: 1, column: 1 };
}

function warningLine(finding: Finding, places: Places): string {
  const { line, column } = locate(finding, places);
  return `${CONFIG_FILE}:${line}:${column} ${dotted(finding.path)} ${finding.message}`;
}

const placesOf = ({ places }: Pick<YamlTree, 'places'>): Places => ({ position: (path) => places.get(path) });

/** `host.name` defaults to the name of the package, else of the folder. */
function named(
  value: Record<string, unknown>,
  paths: { readonly project: string; readonly packageJson: string },
): Record<string, unknown> {
  const host = isRecord(value['host']) ? value['host'] : {};
  return { ...value, host: { name: defaultHostName(paths), ...host } };
}

/** The host's name while its configuration is not read, or gives none. */
export function defaultHostName(paths: { readonly project: string; readonly packageJson: string }): string {
  return plain(packageName(paths.packageJson) ?? basename(paths.project)) || 'svc';
}

/** Package and folder names were not written for display, so control characters become spaces. */
const plain = (name: string): string => name.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

function packageName(file: string): string | undefined {
  const read = readSmallFile(file);
  if (read.kind !== 'text') return undefined;
  try {
    const parsed: unknown = JSON.parse(read.text);
    return isRecord(parsed) && typeof parsed['name'] === 'string' && parsed['name'] !== ''
      ? parsed['name'].slice(0, 100)
      : undefined;
  } catch {
    // A broken package.json is reported by its own reader. Here it only gives no name.
    return undefined;
  }
}

function wrapSecrets(value: unknown, schema: JsonSchema | undefined): unknown {
  if (schema?.format === 'svc-secret' && typeof value === 'string') return new Secret(value);
  if (Array.isArray(value)) return value.map((item) => wrapSecrets(item, schema?.items));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, wrapSecrets(inner, schemaOfKey(schema, key))]),
  );
}

function freeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}

function versionOf(value: unknown, references: ReadonlyMap<string, ResolvedReference>): string {
  const hidden = (inner: unknown, path: string): unknown => {
    const reference = references.get(path);
    if (reference !== undefined && (path.startsWith('/plugins/') || lastOf(path).toLowerCase().includes('token')))
      return reference.text;
    if (path === '/http/token' && reference === undefined) return null;
    if (Array.isArray(inner)) return inner.map((item, index) => hidden(item, pointerTo(path, index)));
    if (!isRecord(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, deeper]) => [key, hidden(deeper, pointerTo(path, key))]),
    );
  };
  return `sha256:${createHash('sha256')
    .update(stableJson(hidden(value, '')))
    .digest('hex')}`;
}

function lookups(
  yaml: YamlTree,
  resolved: Resolved,
  variables: ProjectEnvironment,
): Pick<LoadedConfig, 'source' | 'position'> {
  const fromEnvironment = (path: string): boolean =>
    resolved.references.get(path)?.taken.some((name) => variables.origin(name) !== undefined) ?? false;
  return {
    position: (path) => yaml.places.get(path),
    source: (path) => (fromEnvironment(path) ? 'env' : yaml.places.has(path) ? 'file' : 'default'),
  };
}
