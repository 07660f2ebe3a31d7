// What reaches a host that runs: its token and its base, out of the configuration of its project. A fault that was written into the file since
// does not touch the host, so of such a file what can still be read is taken.
import { isBearerToken } from '../bearer-token.ts';
import { projectPaths } from '../files/paths.ts';
import { SvcError } from '../svc-error.ts';
import { readSmallFile } from './checks/small-file.ts';
import { type Environment, projectEnvironment } from './environment.ts';
import { type LoadOptions, loadConfig } from './load.ts';
import { lookUp, readReferences } from './references.ts';
import { isRecord } from './schema/json-schema.ts';
import { readYaml } from './yaml-tree.ts';

export interface Access {
  readonly token: string | undefined;
  /** `http.base`. */
  readonly base: string;
  /** Where a host would listen; undefined where the configuration has a fault. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  readonly fault: SvcError | undefined;
  /** The variable of the token, where the process has it. */
  readonly variable: string | undefined;
}

/** The variable of a token, as `svc init` writes it. */
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

/** Where the state lies, and what no text that is stored may hold. Of a file with a fault what can still be read is taken. */
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

/** Whatever is wrong with the file. */
function readRaw(options: LoadOptions): Pick<Access, 'token' | 'base' | 'variable'> {
  const { environment } = options;
  const { tree, values } = readTree(options);
  const http = isRecord(tree) && isRecord(tree['http']) ? tree['http'] : {};
  const name = secretName(http['token']);
  const variable = name !== undefined && isToken(values[name]) ? name : TOKEN_NAME;
  const token = values[variable];
  return {
    token: isToken(token) ? token : undefined,
    base: baseOf(http['base'], values),
    variable: environment[variable] === undefined ? undefined : variable,
  };
}

/** Of the process alone where `.env` cannot be read. */
function variables(options: Parameters<typeof projectEnvironment>[0]): Environment {
  try {
    return projectEnvironment(options).values;
  } catch {
    return options.environment; // told as a fault by who reads the whole
  }
}

const isToken = (text: string | undefined): text is string => text !== undefined && isBearerToken(text);

/** A secret is one reference: no host has taken anything else for its token. */
function secretName(value: unknown): string | undefined {
  const read = typeof value === 'string' ? readReferences(value) : undefined;
  const [part] = read?.kind === 'template' && read.whole ? read.parts : [];
  return typeof part === 'object' ? part.name : undefined;
}

/** Of a form that puts the request to no other host. */
function baseOf(value: unknown, values: Environment): string {
  const text = textOf(value, values);
  return /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(text) ? text : '';
}

/** With its references; empty where it cannot be read. */
function textOf(value: unknown, values: Environment): string {
  const read = typeof value === 'string' ? readReferences(value) : undefined;
  if (read === undefined || read.kind === 'malformed') return '';
  const parts = read.kind === 'plain' ? [read.text] : read.parts;
  return parts.map((part) => (typeof part === 'string' ? part : (lookUp(part, values) ?? ''))).join('');
}
