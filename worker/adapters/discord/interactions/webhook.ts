// Interactions over HTTP: events of a verified request, and the response once they are stored.

import type { Arrival, HttpAnswer, RawRequest } from '../../../sdk/index.ts';
import type { Json } from '../../../sdk/platform/foreign-json.ts';
import type { Account } from '../config.ts';
import { deferredOfAccount } from './deferred.ts';
import { deliveredIn } from './delivered.ts';
import { answerTo, deferredOf, interactionArrivals } from './interactions.ts';

/** Throws if the request is no interaction. */
export const parse = (request: RawRequest, { applicationId }: Account): readonly Arrival[] =>
  interactionArrivals(interactionIn(request), { application: applicationId, now: request.receivedAt });

/** Records that the person sees "thinking…" from now on. */
export function answer(request: RawRequest, account: Account): HttpAnswer {
  const interaction = interactionIn(request);
  const deferred = deferredOf(interaction);
  if (deferred !== undefined) deferredOfAccount(account).add(deferred);
  return { json: answerTo(interaction) };
}

function interactionIn(request: RawRequest): Json {
  const interaction = deliveredIn(request);
  if (interaction === undefined) throw new Error('not an interaction');
  return interaction;
}
