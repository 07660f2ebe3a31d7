// Refuses a token outside the Authorization header, below /api and for every caller. In a query it would be logged, in a body stored and
// shown.
//
//   TOKENPLACE-1  By name: a query parameter, a form field (multipart too), or a JSON key at any depth.
//   TOKENPLACE-2  By value: a configured token in a body, under any field name. Checked for callers with full scope only. For anyone else
//                 the answer would reveal whether a guess is a token.
import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../../shared/svc-error.ts';
import type { NamedToken } from '../api/caller.ts';
import { readStrictJson } from './strict-json.ts';

export interface BodyCheck {
  /** True if the route's schema has a field of this name with another meaning. */
  isOwn(name: string): Promise<boolean>;
  /** Tokens to look for; empty if the caller must not learn of them. */
  readonly tokens: readonly NamedToken[];
}

/** Shorter tokens exist on loopback only. Within a text, such a token may be an ordinary word. */
const SHORTEST_TOKEN = 16;
const TOKEN_NAMES = new Set(['token', 'access_token', 'auth_token', 'bearer', 'authorization', 'api_key', 'apikey']);
const ANY_NAME = new RegExp([...TOKEN_NAMES].join('|'), 'i');
const FORM = /^application\/x-www-form-urlencoded(?:$|[\s;])/i;
const FORM_OF_PARTS = /^multipart\/form-data[\s;].*?\bboundary=(?:"([^"]+)"|([^\s;"]+))/i;
const DISPOSITION = /^content-disposition:.*/im;
const PARAMETER = /;[ \t]*([\w*]+)=(?:"([^"]*)"|([^\s;"]*))/g;
const JSON_LIKE = /^application\/(?:[\w.-]+\+)?json(?:$|[\s;])/i;

/** True for a form, which is parsed for a token before it is refused as no JSON. */
export const isForm = (request: IncomingMessage): boolean =>
  FORM.test(typeOf(request)) || boundaryOf(request) !== undefined;
/** True if the media type has named fields. */
export const hasFields = (request: IncomingMessage): boolean => isForm(request) || JSON_LIKE.test(typeOf(request));
const typeOf = (request: IncomingMessage): string => request.headers['content-type'] ?? '';

/** The boundary of a multipart form. */
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
  // JSON that is parsed and written again contains no escaped letters, so an escaped token is found too.
  const texts = [raw, ...(value === undefined ? [] : [JSON.stringify(value)])];
  if (known.some((token) => texts.some((text) => text.includes(token)))) throw tokenElsewhere('body');
}

/** A cheap check that saves parsing: few bodies contain such a name, a token or an escape. */
const maySpell = (raw: string, known: readonly string[]): boolean =>
  raw.includes('\\') || ANY_NAME.test(raw) || known.some((token) => raw.includes(token));

/** Field names of a form. A multipart form has them in the header of each part. */
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
  return verdict.kind === 'value' ? verdict.value : undefined; // the reader of the body reports what is wrong with it
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
