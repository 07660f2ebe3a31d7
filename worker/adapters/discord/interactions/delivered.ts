// The interaction in the body of a delivery. A delivery is asked for it three times (is it a PING, what does it hold, what is answered), and read once.

import type { RawRequest } from '../../../sdk/index.ts';
import { isObject, type Json } from '../../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../../sdk/text/safe-json.ts';

const read = new WeakMap<Uint8Array, Json>();

/** Undefined when the body is no JSON object in UTF-8. */
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
