// Idempotency-Key: a repeated change is done once, and each repeat gets the first answer.
//
//   IDEMPOTENCY-1  A key belongs to one token and one route. The same key with another request is 409 `idempotency_conflict`.
//   IDEMPOTENCY-2  Answers of changes are kept. After a failure the key is free again, because nothing was changed.
//   IDEMPOTENCY-3  A failure to store the outcome does not change the answer. A completed change is answered as completed, a failed one
//                  with its error.
//   IDEMPOTENCY-4  While the first request runs, a second one gets 409 with Retry-After.
//   IDEMPOTENCY-5  A change that is one commit keeps its answer in that commit, so a repeat after a kill gets it. A change that ends a
//                  process or a connection keeps its answer before. Registering a webhook happens at a platform, outside any commit. So
//                  registering may run again after a kill, and adapters must make a second registration of an address harmless.
import { createHash } from 'node:crypto';
import { SvcError } from '../../../shared/svc-error.ts';
import type { IdempotencyStore, KeptAnswer } from '../answer/kept-answer.ts';
import type { Answer, KeepAs } from '../routes/route.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

export interface KeyedRequest {
  /** The value of the Idempotency-Key header, if there is one. */
  readonly key: string | undefined;
  readonly actor: string;
  /** Method and path as they were sent. */
  readonly route: string;
  readonly bytes: Buffer;
}

/** Runs the change once per key. Throws `idempotency_conflict` and `conflict`. */
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
  await store.finish(key, route, keptOf(answer)).catch(unstored); // replaces the answer that the commit kept, which was decided earlier
  return answer;
}

export const keepNone: KeepAs = () => () => [];

const keptOf = ({ status, json, headers = {} }: Answer): KeptAnswer => ({ status, body: json, headers });

/** The outcome could not be stored, so the key is free again. Refusing repeats for ever would help no client. */
const unstored = (): void => {};
