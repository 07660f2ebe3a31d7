// Checks what a plugin answers about a delivery. Plugins may be plain JavaScript, so an invalid answer throws before anything is stored. Pure.

import { faultOfAnswer } from '../handling/http-answer.ts';
import type { WebhookCapability } from '../handling/plan/capabilities.ts';
import type { Verdict } from '../sdk/index.ts';

export function verdictOf(verdict: Verdict | undefined): Verdict {
  if (!['ok', 'refused', 'handshake'].includes(String(verdict?.kind))) throw new Error('verify gave no verdict');
  if (verdict?.kind === 'handshake') {
    const fault = verdict.answer === undefined ? 'nothing' : faultOfAnswer(verdict.answer);
    if (fault !== undefined) throw new Error(`a handshake answers with ${fault}`);
  }
  return verdict as Verdict;
}

/** A promise is refused, because it would count as a yes. */
export function isWanted(answer: unknown): boolean {
  if (typeof answer === 'object' && answer !== null) throw new Error('accept has to answer true or false, at once');
  return answer !== false;
}

/** Undefined for an empty id: the plugin cannot tell this delivery from others. A promise is refused, because all promises would become one id. */
export function deliveryIdOf(id: unknown): string | undefined {
  if (typeof id === 'number') return String(id);
  if (id === undefined || id === null || id === '') return undefined;
  if (typeof id === 'string') return id;
  throw new Error('delivery has to answer with a text, at once');
}

/** The lane that the plugin names. Undefined if there is none, or if the body has another shape; the handler's schema reports that later. */
export function webhookLaneOf({ spec }: WebhookCapability, body: unknown): string | undefined {
  try {
    return spec.lane?.(body as never);
  } catch {
    return undefined;
  }
}
