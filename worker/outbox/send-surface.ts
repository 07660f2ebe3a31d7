// The platforms as the sender sees them.
import type { Can, Outgoing, SendResult } from '../sdk/index.ts';
import type { Rate } from './send-rate.ts';

/** One endpoint as the sender sees it. */
export interface SendSurface {
  readonly can: Can;
  readonly rate: Rate | undefined;
  send(call: Outgoing): Promise<SendResult>;
  /** The platform said that the account itself is refused. */
  accountFailed(reason: string, remedy: string): void;
}
/** `waiting`: it exists and takes nothing now. */
export type SurfaceState =
  | { readonly kind: 'ready'; readonly surface: SendSurface }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'missing' };

/** A call may be made as soon as it is stored, and counts as made: a repeat of it does nothing, and it waits for no turn. */
export const takesAtOnce = (state: SurfaceState): boolean =>
  state.kind === 'ready' && state.surface.can.idempotent === true && state.surface.rate === undefined;
