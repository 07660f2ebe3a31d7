// Idempotency-Key: the same change asked for twice is done once, and the second time gets the first answer.
//
//   K1  A key belongs to one token and one route; with another request under it: 409 `idempotency_conflict`.
//   K2  Answers that changed something are kept; after a failure the key is free again, because nothing was changed.
//   K3  What cannot be stored of an end changes nothing of it: a change that was made is answered as made, a failure as what it was.
//   K4  While the first request still runs, a second one is told to come back: 409 with Retry-After.
//   K5  A change that is one unit of the store keeps its answer in that unit: the same request after a kill in between gets it. What ends
//       a process or a connection keeps it before that begins: the kill has done the rest. Registering the address of a webhook is of no
//       unit, since it is made at a platform. So it is free to be asked again after a kill, as after a failure, and may be: adapters owe that
//       the same address registered twice is registered once (`webhook.register` of sdk/adapter.ts).
import { createHash } from 'node:crypto';
import { SvcError } from '../../../shared/svc-error.ts';
import type { IdempotencyStore, KeptAnswer } from '../answer/kept-answer.ts';
import type { Answer, KeepAs } from '../routes/route.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

export interface KeyedRequest {
  /** The header, where there is one. */
  readonly key: string | undefined;
  readonly actor: string;
  /** Method and path as they came. */
  readonly route: string;
  readonly bytes: Buffer;
}

/** Runs the change under its key. */
export async function runOnce(
  store: IdempotencyStore,
  keyed: KeyedRequest,
  change: (keep: KeepAs) => Promise<Answer>,
): Promise<Answer> {
  if (keyed.key === undefined) return change(keepNone);
  if (!KEY.test(keyed.key))
    throw new SvcError('invalid_request', 'Idempotency-Key takes 1 to 255 visible ASCII characters');
  const key = `${keyed.actor}/${keyed.key}`;
  const digest = createHash('sha256').update(keyed.route).update('\n').update(keyed.bytes).digest('hex');
  const begun = await store.begin(key, keyed.route, digest);
  switch (begun.kind) {
    case 'known':
      return { status: begun.status, json: begun.body, headers: { ...begun.headers, 'Idempotency-Replayed': 'true' } };
    case 'conflict':
      throw new SvcError('idempotency_conflict', 'this key was used for another request', { hint: 'Use a new key.' });
    case 'running':
      throw new SvcError('conflict', 'the first request with this key is still running', {
        hint: 'Repeat it in a moment.',
        details: { retryAfterMs: 1_000 },
      });
    case 'new':
      return runFirst(store, { key, route: keyed.route }, change);
  }
}

async function runFirst(
  store: IdempotencyStore,
  { key, route }: { readonly key: string; readonly route: string },
  change: (keep: KeepAs) => Promise<Answer>,
): Promise<Answer> {
  let answer: Answer;
  try {
    answer = await change((answerOf) => (result) => store.keeping(key, route, keptOf(answerOf(result))));
  } catch (error) {
    await store.abandon(key, route).catch(unstored);
    throw error;
  }
  await store.finish(key, route, keptOf(answer)).catch(unstored); // in place of what its unit kept: it was decided before
  return answer;
}

export const keepNone: KeepAs = () => () => [];

const keptOf = ({ status, json, headers = {} }: Answer): KeptAnswer => ({ status, body: json, headers });

/** K3. The key is free again: to ask for ever after what has ended would help nobody. */
const unstored = (): void => {};
