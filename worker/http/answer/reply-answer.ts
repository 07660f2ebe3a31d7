// Converts the answer of a webhook or a plugin. The server keeps control of framing and connection.
import { SvcError } from '../../../shared/svc-error.ts';
import type { HttpReply } from '../api/delivery-api.ts';
import type { Answer } from '../routes/route.ts';
import { OURS } from './security-headers.ts';

const NOT_THEIRS = new Set([
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'date',
  'trailer',
]);

/** Drops headers that would break the framing, and security headers. Throws `plugin_failed` for a status outside 200 to 599. */
export function answerOf({ status, headers = {}, json, text }: HttpReply): Answer {
  if (!(Number.isInteger(status) && status >= 200 && status <= 599))
    throw new SvcError('plugin_failed', `an answer has the status ${status}`);
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !NOT_THEIRS.has(name.toLowerCase()) && !OURS.has(name.toLowerCase()),
  );
  return {
    status,
    headers: Object.fromEntries(kept),
    ...(json === undefined ? {} : { json }),
    ...(text === undefined ? {} : { text }),
  };
}
