// Errors that a handler or an adapter throws to choose the outcome. Any other error makes the host retry with backoff. The host knows these errors
// by a mark and a code. `instanceof` would fail, because a plugin brings its own copy of this file.
import type { Body } from './message.ts';

const ERROR = Symbol.for('svc.error');

export type HandlerErrorCode = 'user_error' | 'handler_retry' | 'handler_fatal' | 'account_failed';

/** Drops the effects of this run and sends `body` to the person. The item counts as handled. */
export function userError(body: Body): Error {
  return marked('user_error', 'told to the person', { body });
}

/** Retries the item after `afterMs` (default: the usual backoff), as the next attempt. */
export function retryLater(reason: string, { afterMs }: { readonly afterMs?: number } = {}): Error {
  return marked('handler_retry', reason, Number.isFinite(afterMs) ? { afterMs } : {});
}

/** Makes the item a dead letter now, without further attempts. */
export function giveUp(reason: string): Error {
  return marked('handler_fatal', reason, {});
}

/** Thrown by an adapter if the platform refuses the account itself. The endpoint fails and does not reconnect. */
export function accountFailed(reason: string, remedy: string): Error {
  return marked('account_failed', reason, { remedy });
}

/** The code of one of these errors; undefined for any other value. */
export function errorCode(error: unknown): HandlerErrorCode | undefined {
  try {
    if (typeof error !== 'object' || error === null || (error as Record<symbol, unknown>)[ERROR] !== true)
      return undefined;
    return (error as { readonly code?: HandlerErrorCode }).code;
  } catch {
    return undefined; // a proxy or a getter threw: no mark
  }
}

const marked = (code: HandlerErrorCode, message: string, details: object): Error =>
  Object.defineProperty(Object.assign(new Error(message), { code, ...details }), ERROR, { value: true });
