// What a run is for, the keys of its effects, and the errors of its context.
import { createHash } from 'node:crypto';
import type { Conversation, User } from '../sdk/index.ts';
import type { Capability } from './capabilities.ts';

/** What this run is for: an item of the inbox, or a request to a plugin's route. */
export interface Cause {
  readonly id: string;
  readonly receivedAt: number;
  readonly attempt: number;
  /** Where a person wrote, for arrivals; `message` is the platform's id of what they wrote, edited or pressed. */
  readonly chat:
    | { readonly user: User; readonly conversation: Conversation; readonly endpoint: string; readonly message?: string }
    | undefined;
}

/** The same on each attempt: for ids and idempotency keys. */
export const effectKey = (cause: Cause, capability: Capability, step: string | number): string =>
  createHash('sha256').update(`${cause.id}|${capability.keptAs}|${step}`).digest('hex').slice(0, 32);

/** An error that is told by its code. */
export const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });
