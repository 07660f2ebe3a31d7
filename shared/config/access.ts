// Reads how to reach a running host from its project's configuration: token and base path.
// The running host does not see faults written later, so a faulty file is read as far as possible.
import { isBearerToken } from '../bearer-token.ts';
import { projectPaths } from '../files/paths.ts';
import { SvcError } from '../svc-error.ts';
import { readSmallFile } from './checks/small-file.ts';
import { type Environment, projectEnvironment } from './environment.ts';
import { type LoadOptions, loadConfig } from './load.ts';
import { lookUp, readReferences, variableOf } from './references.ts';
import { isRecord } from './schema/json-schema.ts';
import { readYaml } from './yaml-tree.ts';

export interface Access {
  readonly token: string | undefined;
  /** `http.base`. */
  readonly base: string;
  /** The host's listen address. Undefined if the configuration has a fault. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  readonly fault: SvcError | undefined;
  /** Name of the token's variable, if the process environment has it. */
  readonly variable: string | undefined;
}

/** The token's variable, as `svc init` writes it. */
const TOKEN_NAME = 'HTTP_TOKEN';

export function readAccess(options: LoadOptions): Access {
  const read = readRaw(options);
  try {
    const { config } = loadConfig(options);
    const { base, host, port } = config.http;
    return { ...read, token: config.http.token?.reveal(), base, address: { host, port }, fault: undefined };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { ...read, address: undefined, fault: error };
  }
}

/** Path of the database, and secrets that no stored text may hold. A faulty file is read as far as possible. */
export function readStatePlace(options: LoadOptions): {
  readonly filename: string;
  readonly secrets: readonly string[];
} {
  try {
    const { config, secrets } = loadConfig({ ...options, servesNothing: true });
    return { filename: config.database.filename, secrets };
  } catch (error) {
    if (!isFault(error)) throw error;
    const { tree, values } = readTree(options);
    const database = isRecord(tree) && isRecord(tree['database']) ? tree['database'] : {};
    const filename = textOf(database['filename'], values);
    const secrets = Object.entries(values).flatMap(([name, value]) =>
      options.environment[name] === value || value === undefined ? [] : [value],
    );
    return { filename: filename === '' ? projectPaths(options.project).database : filename, secrets };
  }
}

const isFault = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.code === 'config_invalid' || error.code === 'secret_invalid');

function readTree({ project, mode, environment }: LoadOptions): {
  readonly tree: unknown;
  readonly values: Environment;
} {
  const paths = projectPaths(project);
  const file = readSmallFile(paths.config);
  return {
    tree: file.kind === 'text' ? readYaml(file.text).value : undefined,
    values: variables({ file: paths.env, mode, environment }),
  };
}

/** Reads the file whatever its faults. */
function readRaw(options: LoadOptions): Pick<Access, 'token' | 'base' | 'variable'> {
  const { environment } = options;
  const { tree, values } = readTree(options);
  const http = isRecord(tree) && isRecord(tree['http']) ? tree['http'] : {};
  const name = variableOf(http['token']); // hosts accept no other form
  const variable = name !== undefined && isToken(values[name]) ? name : TOKEN_NAME;
  const token = values[variable];
  return {
    token: isToken(token) ? token : undefined,
    base: baseOf(http['base'], values),
    variable: environment[variable] === undefined ? undefined : variable,
  };
}

/** The process environment alone if `.env` cannot be read. */
function variables(options: Parameters<typeof projectEnvironment>[0]): Environment {
  try {
    return projectEnvironment(options).values;
  } catch {
    return options.environment; // reported as a fault by the reader of the whole configuration
  }
}

const isToken = (text: string | undefined): text is string => text !== undefined && isBearerToken(text);

/** Accepts only a path that cannot redirect the request to another host. */
function baseOf(value: unknown, values: Environment): string {
  const text = textOf(value, values);
  return /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(text) ? text : '';
}

/** The text with its references resolved. Empty if it cannot be read. */
function textOf(value: unknown, values: Environment): string {
  const read = typeof value === 'string' ? readReferences(value) : undefined;
  if (read === undefined || read.kind === 'malformed') return '';
  const parts = read.kind === 'plain' ? [read.text] : read.parts;
  return parts.map((part) => (typeof part === 'string' ? part : (lookUp(part, values) ?? ''))).join('');
}
