// Platforms as the sender sees them.
import type { Can, Outgoing, SendResult } from '../sdk/index.ts';
import type { Rate } from './send-rate.ts';

/** One endpoint as the sender sees it. */
export interface SendSurface {
  readonly can: Can;
  readonly rate: Rate | undefined;
  send(call: Outgoing): Promise<SendResult>;
  /** Reports that the platform refuses the account itself. */
  accountFailed(reason: string, remedy: string): void;
  /** Reports that sends wait for so long because the platform asked for `toldMs`. */
  slowed(waitMs: number, toldMs: number): void;
}
/** `waiting`: the endpoint exists but takes nothing now. */
export type SurfaceState =
  | { readonly kind: 'ready'; readonly surface: SendSurface }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'missing' };

/** True if a call may start as soon as it is stored: the platform drops repeats, and there is no rate limit to wait for. */
export const takesAtOnce = (state: SurfaceState): boolean =>
  state.kind === 'ready' && state.surface.can.idempotent === true && state.surface.rate === undefined;
