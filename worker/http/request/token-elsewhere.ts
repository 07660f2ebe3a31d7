// A token anywhere but in the header, below /api: refused whoever sends it. In a query it would be written to logs, in a body stored and shown.
//
//   E1  By name: a parameter of the query, a field of a form (of several parts, too), a field of JSON at any depth.
//   E2  By value: a token of the host in a body, whatever its field. Looked for where the caller has full scope alone: anybody else would
//       learn by the answer whether a guess is a token.
import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../../shared/svc-error.ts';
import type { NamedToken } from '../api/caller.ts';
import { readStrictJson } from './strict-json.ts';

export interface BodyCheck {
  /** The route has a field of this name that is something else. */
  isOwn(name: string): Promise<boolean>;
  /** None where the caller is not to learn of them. */
  readonly tokens: readonly NamedToken[];
}

/** A shorter token is taken on loopback alone; within a text it may be a word. */
const SHORTEST_TOKEN = 16;
const TOKEN_NAMES = new Set(['token', 'access_token', 'auth_token', 'bearer', 'authorization', 'api_key', 'apikey']);
const ANY_NAME = new RegExp([...TOKEN_NAMES].join('|'), 'i');
const FORM = /^application\/x-www-form-urlencoded(?:$|[\s;])/i;
const FORM_OF_PARTS = /^multipart\/form-data[\s;].*?\bboundary=(?:"([^"]+)"|([^\s;"]+))/i;
const DISPOSITION = /^content-disposition:.*/im;
const PARAMETER = /;[ \t]*([\w*]+)=(?:"([^"]*)"|([^\s;"]*))/g;
const JSON_LIKE = /^application\/(?:[\w.-]+\+)?json(?:$|[\s;])/i;

/** A form could carry a token in its body, which is refused as such. */
export const isForm = (request: IncomingMessage): boolean =>
  FORM.test(typeOf(request)) || boundaryOf(request) !== undefined;
/** A body of its media type has fields. */
export const hasFields = (request: IncomingMessage): boolean => isForm(request) || JSON_LIKE.test(typeOf(request));
const typeOf = (request: IncomingMessage): string => request.headers['content-type'] ?? '';

/** Of a form of several parts. */
function boundaryOf(request: IncomingMessage): string | undefined {
  const [, quoted, plain] = FORM_OF_PARTS.exec(typeOf(request)) ?? [];
  return quoted ?? plain;
}

export function refuseTokenInQuery(query: Readonly<Record<string, string>>): void {
  for (const name in query) {
    if (isTokenName(name)) throw tokenElsewhere('query');
  }
}

export async function refuseTokenInBody(request: IncomingMessage, bytes: Buffer, check: BodyCheck): Promise<void> {
  const raw = bytes.toString('latin1');
  const known = check.tokens.map(({ token }) => token.reveal()).filter(({ length }) => length >= SHORTEST_TOKEN);
  if (!isForm(request) && !maySpell(raw, known)) return;
  const value = JSON_LIKE.test(typeOf(request)) ? valueOf(bytes) : undefined;
  const names = isForm(request) ? fieldsOf(raw, boundaryOf(request)) : keysOf(value);
  for (const name of names) {
    if (isTokenName(name) && !(await check.isOwn(name))) throw tokenElsewhere('body');
  }
  // Parsed and written anew no letter is escaped.
  const texts = [raw, ...(value === undefined ? [] : [JSON.stringify(value)])];
  if (known.some((token) => texts.some((text) => text.includes(token)))) throw tokenElsewhere('body');
}

/** Nearly no body holds such a name, a token, or a letter that is escaped; the others are not parsed for it. */
const maySpell = (raw: string, known: readonly string[]): boolean =>
  raw.includes('\\') || ANY_NAME.test(raw) || known.some((token) => raw.includes(token));

/** Names of fields; a form of several parts has them in the head of each. */
function fieldsOf(raw: string, boundary: string | undefined): readonly string[] {
  if (boundary === undefined) return [...new URLSearchParams(raw).keys()];
  return raw.split(`--${boundary}`).flatMap((part) => {
    const [head = ''] = part.split(/\r?\n\r?\n/, 1);
    const [disposition = ''] = DISPOSITION.exec(head) ?? [];
    return [...disposition.matchAll(PARAMETER)]
      .filter(([, parameter = '']) => parameter.toLowerCase() === 'name')
      .map(([, , quoted, plain = '']) => quoted ?? plain);
  });
}

function valueOf(bytes: Buffer): unknown {
  const verdict = readStrictJson(bytes);
  return verdict.kind === 'value' ? verdict.value : undefined; // whoever reads it says what is wrong with it
}

function keysOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysOf)];
}

const isTokenName = (name: string): boolean => TOKEN_NAMES.has(name.toLowerCase());

const tokenElsewhere = (place: 'query' | 'body'): SvcError =>
  new SvcError('invalid_request', `a token is not taken in the ${place}`, {
    hint: 'Send the token in the Authorization header, and replace it: what is elsewhere is written to logs, or stored.',
  });
