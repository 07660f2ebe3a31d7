// Fills the templates of deploy/ to make a unit or plist. Every `@NAME@` is replaced, escaped for the file's format. Pure.
//
//   RENDER-1  An unknown name in a template is an error.
//   RENDER-2  Any path keeps its meaning, also with spaces, quotes, `%`, `$` or `&`. A path that cannot be written is refused.
import { SvcError } from '../../../shared/svc-error.ts';

/** Facts about a project's service. */
export interface ServiceFacts {
  readonly name: string;
  readonly project: string;
  readonly stateDir: string;
  readonly dataDir: string;
  readonly node: string;
  /** Node options for the worker. */
  readonly workerOptions: readonly string[];
  readonly cli: string;
  /** Folders of programs, joined by colons. */
  readonly path: string;
  readonly host: string;
  readonly port: number;
  /** Limit for a stop in seconds, after which the worker is killed. */
  readonly stopSeconds: number;
}

export function renderUnit(template: string, facts: ServiceFacts): string {
  return fill(template, {
    NAME: facts.name,
    PROJECT: unitText(facts.project),
    PROJECT_WORD: commandWord(facts.project),
    STATE_WORD: unitWord(facts.stateDir),
    DATA_WORD: unitWord(facts.dataDir),
    NODE: unitWord(facts.node), // systemd expands no variables in the program of a command line
    WORKER_OPTIONS: facts.workerOptions.map((option) => ` ${commandWord(option)}`).join(''),
    CLI: commandWord(facts.cli),
    PATH: unitWord(`PATH=${facts.path}`),
    LISTEN: facts.host.includes(':') ? `[${facts.host}]:${facts.port}` : `${facts.host}:${facts.port}`,
    STOP_SECONDS: String(facts.stopSeconds),
  });
}

export function renderPlist(template: string, facts: ServiceFacts): string {
  return fill(template, {
    LABEL: xmlText(facts.name),
    PROJECT: xmlText(facts.project),
    NODE: xmlText(facts.node),
    WORKER_OPTIONS: facts.workerOptions.map((option) => `\n\t\t<string>${xmlText(option)}</string>`).join(''),
    CLI: xmlText(facts.cli),
    PATH: xmlText(facts.path),
    STOP_SECONDS: String(facts.stopSeconds),
  });
}

/** Replaces each `@NAME@`. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/@([A-Z_]+)@/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new SvcError('internal', `a template asks for ${name}, which nobody knows`);
    return value;
  });
}

/** Escapes the rest of a line in a unit. Only `%` specifiers are special there. */
const unitText = (text: string): string => writable(text).replaceAll('%', '%%');

/** Escapes one word of a list in a unit. */
function unitWord(text: string): string {
  const escaped = unitText(text).replaceAll('"', String.raw`\"`);
  return /[\s"';]/.test(escaped) ? `"${escaped}"` : escaped;
}

/** Escapes one word of a unit's command line, where `$` starts a variable. */
const commandWord = (text: string): string => unitWord(text).replaceAll('$', '$$$$');

const xmlText = (text: string): string =>
  writable(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function writable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they end a line, or are no text at all
  if (/[\u0000-\u001f\u007f\\]/.test(text))
    throw new SvcError('refused', `a service cannot be written for ${JSON.stringify(text)}`, {
      hint: 'use a path without control characters and backslashes',
    });
  return text;
}
