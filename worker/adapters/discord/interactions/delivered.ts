// Reads the interaction in a request body. Three steps need it (PING check, parse, answer), so the parsed value is cached.

import type { RawRequest } from '../../../sdk/index.ts';
import { isObject, type Json } from '../../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../../sdk/text/safe-json.ts';

const read = new WeakMap<Uint8Array, Json>();

/** Undefined if the body is not a JSON object in UTF-8. */
export function deliveredIn({ body }: Pick<RawRequest, 'body'>): Json | undefined {
  const known = read.get(body);
  if (known !== undefined) return known;
  const interaction = jsonIn(body);
  if (!isObject(interaction)) return undefined;
  read.set(body, interaction);
  return interaction;
}

function jsonIn(body: Uint8Array): unknown {
  try {
    return safeJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
