// What a plugin says about a delivery. Its JavaScript may have answered anything: what is no answer throws, before anything is stored. Pure.

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

/** A promise would count as a yes, whatever comes of it. */
export function isWanted(answer: unknown): boolean {
  if (typeof answer === 'object' && answer !== null) throw new Error('accept has to answer true or false, at once');
  return answer !== false;
}

/** Undefined: nothing tells it apart from others, as an empty text does. All promises would be one id. */
export function deliveryIdOf(id: unknown): string | undefined {
  if (typeof id === 'number') return String(id);
  if (id === undefined || id === null || id === '') return undefined;
  if (typeof id === 'string') return id;
  throw new Error('delivery has to answer with a text, at once');
}

/** Undefined for one that has no lane, or is not of the shape: it gets its own, and the handler's schema says what is wrong. */
export function webhookLaneOf({ spec }: WebhookCapability, body: unknown): string | undefined {
  try {
    return spec.lane?.(body as never);
  } catch {
    return undefined;
  }
}
