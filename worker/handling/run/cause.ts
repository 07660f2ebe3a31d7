// The cause of a run, the keys of its effects, and the errors of its context.
import { createHash } from 'node:crypto';
import type { Conversation, User } from '../../sdk/index.ts';
import type { Capability } from '../plan/capabilities.ts';

/** The cause of a run: an inbox item, or a request to a plugin's route. */
export interface Cause {
  readonly id: string;
  readonly receivedAt: number;
  readonly attempt: number;
  /** Id of the scheduled job that runs this. It counts as an operator. */
  readonly job?: string;
  readonly chat: Chat | undefined;
}

/** The chat of an arrival, with ids of the platform. */
export interface Chat {
  readonly user: User;
  readonly conversation: Conversation;
  readonly endpoint: string;
  /** The message that was written, edited or pressed. */
  readonly message?: string;
  /** The message that it replies to. */
  readonly replyTo?: string;
}

/** A key that is the same on each attempt, for ids and idempotency keys. */
export const effectKey = (cause: Cause, capability: Capability, step: string | number): string =>
  createHash('sha256').update(`${cause.id}|${capability.keptAs}|${step}`).digest('hex').slice(0, 32);

const TIMED = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/**
 * Key of a call, the same on each attempt. The key begins with the time of its cause. New keys go to the end of the index, so a commit writes fewer
 * pages.
 */
export function callKey(cause: Cause, capability: Capability, number: number): string {
  const key = effectKey(cause, capability, number);
  const [, high, low] = TIMED.exec(cause.id) ?? [];
  return high === undefined ? key : `${high}${low}${key.slice(12)}`;
}

/** An error with a machine-readable code. */
export const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });
