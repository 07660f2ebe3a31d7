// What a webhook or a plugin answers, made into an answer of ours: framing and connection stay with the server.
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

/** Drops headers that would break the framing of the connection, and those that guard every answer. Throws `plugin_failed` for a status that ends no request. */
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
