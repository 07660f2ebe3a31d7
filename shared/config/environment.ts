// The environment of a project: the process environment, then `.env`. No other module reads process.env.
//
//   ENV-1  The process environment wins over `.env`.
//   ENV-2  `.env` takes NAME=value lines without quotes, spaces, `#` or `$`, because tools read those differently. Other lines cause a warning.
//   ENV-3  A `.env` that group or others can read stops a start in production.
//   ENV-4  Secrets are removed from process.env, so that child processes do not get them. Their readers have copied them before.
import { parseEnv } from 'node:util';
import { ENV_FILE } from '../files/paths.ts';
import { SvcError } from '../svc-error.ts';
import { readSmallFile } from './checks/small-file.ts';
import type { Place } from './fault.ts';
import type { Mode } from './mode.ts';
import type { SecretVariables } from './secret-variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProjectEnvironment {
  /** Both sources merged, without a prototype, frozen. */
  readonly values: Environment;
  readonly warnings: readonly string[];
  /** Source of a variable. Undefined if it is not set. */
  readonly origin: (name: string) => 'process' | '.env' | undefined;
}

export interface EnvironmentOptions {
  /** Path of the `.env` file, which may be missing. */
  readonly file: string;
  readonly mode: Mode;
  /** The process environment, or the one that its owner passed on. */
  readonly environment: Environment;
}

/** The environment of this process as plain frozen data. */
export function processEnvironment(): Environment {
  return Object.freeze({ ...process.env });
}

/** Variables removed from process.env, with their values. */
const withheld = new Map<string, string>();
/** Names that were restored once, because a schema showed that they are not secret. */
const cleared = new Set<string>();

/** Variables that the owner of this process handed down apart from its environment: they may be secret. */
const handed = new Map<string, string>();

export function takeHanded(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) if (process.env[name] === undefined) handed.set(name, value);
}

/** Removes secrets from process.env, and variables that may be secret. A later call restores those that are not. */
export function keepFromChildren({ secret, unjudged }: SecretVariables): void {
  const wanted = new Set([...secret, ...[...unjudged].filter((name) => !cleared.has(name))]);
  for (const [name, value] of withheld) {
    if (wanted.has(name)) continue;
    process.env[name] = value;
    withheld.delete(name);
    cleared.add(name);
  }
  for (const name of wanted) {
    const value = process.env[name] ?? handed.get(name);
    if (value === undefined) continue;
    withheld.set(name, value);
    delete process.env[name];
  }
}

/** Names of the removed variables. /proc still shows their initial values to this user and root. */
export const withheldVariables = (): readonly string[] =>
  [...withheld.keys()].filter((name) => !handed.has(name)).toSorted();

/** Merges the process environment and `.env`. Throws `secret_invalid` if others can read `.env`, `config_invalid` if it cannot be read. */
export function projectEnvironment({ file, mode, environment }: EnvironmentOptions): ProjectEnvironment {
  const read = readEnvFile(file, mode);
  const values: Record<string, string | undefined> = Object.assign(Object.create(null) as object, read.values);
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) values[name] = value;
  return {
    values: Object.freeze(values),
    warnings: read.warnings,
    origin: (name) =>
      Object.hasOwn(environment, name) && environment[name] !== undefined
        ? 'process'
        : name in read.values
          ? '.env'
          : undefined,
  };
}

interface EnvFile {
  readonly values: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

function readEnvFile(file: string, mode: Mode): EnvFile {
  const read = readSmallFile(file);
  const values = Object.create(null) as Record<string, string>;
  if (read.kind === 'absent') return { values, warnings: [] };
  if (read.kind === 'refused') {
    const { reason, place = START } = read;
    throw new SvcError('config_invalid', `${ENV_FILE}:${place.line}:${place.column} ${reason}`, {
      details: { faults: [envFault(reason, place)] },
    });
  }
  const open = openToOthers(read.mode);
  if (open && mode === 'production') {
    const message = 'can be read by group or others';
    throw new SvcError('secret_invalid', `${ENV_FILE}:1:1 ${message}`, {
      hint: `chmod 600 ${ENV_FILE}`,
      details: { faults: [envFault(message)] },
    });
  }
  for (const [name, value] of Object.entries(parseEnv(read.text))) if (value !== undefined) values[name] = value;
  const warnings = strangeLines(read.text);
  return {
    values,
    warnings: open ? [`${ENV_FILE}:1:1 can be read by group or others; chmod 600 ${ENV_FILE}`, ...warnings] : warnings,
  };
}

const PLAIN_LINE = /^[A-Za-z_][A-Za-z0-9_]*=[^\s"'`#$\\]*$/;
const WARNED_LINES = 20;

/** Warnings for unsupported lines and for names given twice. Never shows a value. */
export function strangeLines(text: string): string[] {
  const seen = new Set<string>();
  const warnings: string[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (warnings.length >= WARNED_LINES) break;
    if (line === '' || line.startsWith('#')) continue;
    const name = line.slice(0, line.indexOf('='));
    if (!PLAIN_LINE.test(line))
      warnings.push(
        `${ENV_FILE}:${index + 1}:1 other tools may read this line differently: write NAME=value without quotes, blanks, # or $`,
      );
    else if (seen.has(name)) warnings.push(`${ENV_FILE}:${index + 1}:1 ${name} is set a second time`);
    seen.add(name);
  }
  return warnings;
}

const openToOthers = (mode: number): boolean => (mode & 0o077) !== 0;

const START: Place = { line: 1, column: 1 };

const envFault = (message: string, place = START): object => ({ file: ENV_FILE, ...place, path: '', message });
