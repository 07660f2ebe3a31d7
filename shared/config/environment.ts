// The environment of a project: what the process got, then `.env`. The only reader of process.env.
//
//   E1  The process environment wins over `.env`.
//   E2  `.env` is the subset that every tool reads alike: NAME=value without quotes, blanks, `#` or `$`; another line is a warning.
//   E3  A `.env` that group or others can read ends a production start.
//   E4  Only secrets are taken out of the process environment, so that no child process gets them. Whoever reads them has a copy by then.
import { parseEnv } from 'node:util';
import { ENV_FILE } from '../files/paths.ts';
import { SvcError } from '../svc-error.ts';
import { readSmallFile } from './checks/small-file.ts';
import type { Place } from './fault.ts';
import type { Mode } from './mode.ts';
import type { SecretVariables } from './secret-variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProjectEnvironment {
  /** Both together, without a prototype, frozen. */
  readonly values: Environment;
  readonly warnings: readonly string[];
  /** Where a variable comes from; undefined when it is not set. */
  readonly origin: (name: string) => 'process' | '.env' | undefined;
}

export interface EnvironmentOptions {
  /** Path of the `.env` file, which need not exist. */
  readonly file: string;
  readonly mode: Mode;
  /** The environment of the process (or what its owner handed over). */
  readonly environment: Environment;
}

/** The environment of this process, as plain frozen data. */
export function processEnvironment(): Environment {
  return Object.freeze({ ...process.env });
}

/** Variables that were taken out of the process environment, with their values. */
const withheld = new Map<string, string>();
/** Names that were given back once: a schema said that they are no secrets. */
const cleared = new Set<string>();

/**
 * Keeps secrets from the children of this process (E4). Variables that may be secret are withheld, too, until they are judged; a later call
 * gives back those that are no secrets.
 */
export function keepFromChildren({ secret, unjudged }: SecretVariables): void {
  const wanted = new Set([...secret, ...[...unjudged].filter((name) => !cleared.has(name))]);
  for (const [name, value] of withheld) {
    if (wanted.has(name)) continue;
    process.env[name] = value;
    withheld.delete(name);
    cleared.add(name);
  }
  for (const name of wanted) {
    const value = process.env[name];
    if (value === undefined) continue;
    withheld.set(name, value);
    delete process.env[name];
  }
}

/** Names of the variables that are withheld now. The kernel shows them as they were at the start of the process, to its user and to root. */
export const withheldVariables = (): readonly string[] => [...withheld.keys()].toSorted();

/** Joins the process environment and `.env`. Throws `secret_invalid` (E3) and `config_invalid` when the file cannot be read. */
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

/** Warnings for lines outside the common subset (E2) and for names given twice. Never shows a value. */
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
