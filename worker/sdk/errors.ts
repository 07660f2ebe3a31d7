// What a handler or an adapter may throw to say what is to happen. Errors are known by a mark and a code, never by class:
// a plugin brings its own copy of this file. Anything else that is thrown comes again with backoff.
import type { Body } from './message.ts';

const ERROR = Symbol.for('svc.error');

export type HandlerErrorCode = 'user_error' | 'handler_retry' | 'handler_fatal' | 'account_failed';

/** Drops the effects of this run, tells the person, and the item is handled. */
export function userError(body: Body): Error {
  return marked('user_error', 'told to the person', { body });
}

/** Comes again after a wait (default: the usual backoff), as the next attempt. */
export function retryLater(reason: string, { afterMs }: { readonly afterMs?: number } = {}): Error {
  return marked('handler_retry', reason, Number.isFinite(afterMs) ? { afterMs } : {});
}

/** A dead letter now, without further attempts. */
export function giveUp(reason: string): Error {
  return marked('handler_fatal', reason, {});
}

/** Thrown by an adapter when the platform refuses the account itself: the endpoint fails and does not loop. */
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
    return undefined; // what cannot be read has no mark
  }
}

const marked = (code: HandlerErrorCode, message: string, details: object): Error =>
  Object.defineProperty(Object.assign(new Error(message), { code, ...details }), ERROR, { value: true });
