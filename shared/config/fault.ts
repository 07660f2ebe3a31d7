// A fault of the configuration: position, key and expected value. All faults of a file are reported at once.
import { CONFIG_FILE } from '../files/paths.ts';
import { SvcError } from '../svc-error.ts';

/** A position in a text. Line and column count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface ConfigFault extends Place {
  readonly file: string;
  /** JSON pointer: `/http/port`. Empty for the file itself. */
  readonly path: string;
  /** The expected value. Never holds a value from the environment. */
  readonly message: string;
  /** The nearest valid key or value. */
  readonly suggestion?: string;
}

/** A fault whose position is not known yet. */
export interface Finding {
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
  /** The fault is in a secret, not in the configuration. */
  readonly secret?: boolean;
  /** The position, if the path does not determine it. */
  readonly place?: Place;
}

const SHOWN_FAULTS = 100;
const SHOWN_TEXT = 60;

/** `svc.config.yml:7:3 http.port must be …; did you mean …`. */
export function faultLine(fault: ConfigFault): string {
  const hint = fault.suggestion === undefined ? '' : `; did you mean ${fault.suggestion}?`;
  const subject = fault.path === '' ? '' : `${dotted(fault.path)} `;
  return `${fault.file}:${fault.line}:${fault.column} ${subject}${fault.message}${hint}`;
}

/** The error for these faults, one line each, at most 100. `strangeLine` is an unsupported `.env` line that may define a missing secret. */
export function configError(
  faults: readonly ConfigFault[],
  code: 'config_invalid' | 'secret_invalid',
  strangeLine?: string,
): SvcError {
  const shown = faults.slice(0, SHOWN_FAULTS);
  const rest = faults.length - shown.length;
  const lines = [...shown.map(faultLine), ...(rest > 0 ? [`${CONFIG_FILE}: and ${rest} more faults`] : [])];
  const hint =
    code === 'secret_invalid'
      ? `Set the variable in .env or in the environment; \`svc init\` makes a token.${strangeLine === undefined ? '' : ` ${strangeLine}`}`
      : '`svc config schema` prints every key.';
  return new SvcError(code, lines.join('\n'), { hint, details: { faults: shown } });
}

/** Formats `/http/tokens/0/name` as `http.tokens[0].name`. */
export function dotted(pointer: string): string {
  const parts = pointer.split('/').slice(1).map(unescapePointer);
  return parts.reduce(
    (text, part) =>
      /^\d+$/.test(part) && text !== '' ? `${text}[${part}]` : `${text}${text === '' ? '' : '.'}${printable(part)}`,
    '',
  );
}

/** A short text that cannot break a line or a terminal. */
export function printable(text: string): string {
  const plain = /^[A-Za-z0-9_./~:-]*$/.test(text)
    ? text
    : JSON.stringify(text.slice(0, SHOWN_TEXT)).replace(/[^ -~]/g, escapeCharacter);
  return plain.length > SHOWN_TEXT + 2 ? `${plain.slice(0, SHOWN_TEXT)}…` : plain;
}

/** Advice for a key written as `key:value`, which YAML reads as one word. */
export const blankBehind = (key: string): string => `; a blank is missing behind ${key}:`;

export const pointerTo = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

export const parentOf = (pointer: string): string => pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')));

export const lastOf = (pointer: string): string => unescapePointer(pointer.slice(pointer.lastIndexOf('/') + 1));

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
