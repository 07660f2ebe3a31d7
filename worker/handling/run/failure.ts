// Maps a thrown error to the fate of the handler's item. Pure.
//
//   userError: the user is told, the item is handled · retryLater: retried after its wait · giveUp: a dead letter at once ·
//   anything else: retried with backoff, a dead letter at the bound of attempts.
import { createHash } from 'node:crypto';
import { wholeWaitMs } from '../../../shared/time/backoff.ts';
import { errorCode } from '../../sdk/errors.ts';
import type { Body } from '../../sdk/index.ts';
import { toContent } from '../../sdk/message.ts';
import { hostTexts } from '../../sdk/text/chat-texts.ts';
import type { Language } from '../../sdk/text/texts.ts';
import { bodyFault } from './body-shapes.ts';
import type { Cause } from './cause.ts';
import type { Effect } from './run.ts';

/** An exception of plugin code while it handled an item or answered a request. */
export interface PluginFailed {
  readonly capability: string;
  readonly slot: string;
  readonly during: 'handling' | 'route' | 'webhook';
  /** The item, or the request to a route. */
  readonly item: string;
  /** The generation that ran the code. It may have been superseded meanwhile. */
  readonly generation: number;
  readonly error: unknown;
  /** The fate of the item: told, wait or dead. A route has answered 500. */
  readonly outcome: string;
}

export type Failure =
  | { readonly kind: 'told'; readonly body: Body; readonly reason: string; readonly error: unknown }
  | { readonly kind: 'wait'; readonly afterMs: number | undefined; readonly reason: string; readonly error: unknown }
  | { readonly kind: 'dead'; readonly reason: string; readonly error: unknown };

/** `reason` is the error message with secrets masked. */
export function failureOf(
  error: unknown,
  { reason, attempt, limit }: { readonly reason: string; readonly attempt: number; readonly limit: number },
): Failure {
  const code = errorCode(error);
  const { body } = (error ?? {}) as { readonly body?: unknown };
  const fault = code === 'user_error' ? bodyFault(body) : undefined;
  if (code === 'user_error' && fault === undefined) return { kind: 'told', body: body as Body, reason, error };
  if (fault !== undefined) {
    const about = `userError: ${fault}`;
    return { kind: 'dead', reason: about, error: new Error(about, { cause: error }) };
  }
  if (code === 'handler_fatal' || attempt >= limit) return { kind: 'dead', reason, error };
  return {
    kind: 'wait',
    afterMs: wholeWaitMs((error as { afterMs?: unknown } | null | undefined)?.afterMs),
    reason,
    error,
  };
}

/** The message to the user who asked, as an effect; none if nobody asked. A replayed item that fails again tells the user again. */
export function sorryEffect(
  failure: Exclude<Failure, { kind: 'wait' }>,
  of: {
    readonly cause: Cause;
    readonly handler: string;
    readonly ref: string;
    readonly at: number;
    readonly language: Language;
  },
): readonly Effect[] {
  const conversation = of.cause.chat?.conversation;
  if (conversation === undefined) return [];
  const body: Body = failure.kind === 'told' ? failure.body : hostTexts(of.language).sorry(shortRef(of.ref));
  const key = createHash('sha256')
    .update(`${of.ref}|${of.handler}|${failure.kind}|${of.at}`)
    .digest('hex')
    .slice(0, 32);
  return [
    { kind: 'send', key, to: conversation, content: toContent(body), isPrivate: conversation.kind === 'private' },
  ];
}

/** The last 12 digits of an item's id. Short enough to say, and `svc inbox show` finds the item by it. */
export const shortRef = (id: string): string => id.slice(-12);
