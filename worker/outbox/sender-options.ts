// What the sender is given, and what its attempts share.
import type { Core } from '../core/core.ts';
import type { ShareLimits } from '../lanes/fair-shares.ts';
import type { JustCommitted } from '../lanes/just-committed.ts';
import type { CallSlots } from './call-slots.ts';
import type { HostFailureBackoff } from './host-failure-backoff.ts';
import type { SendVerdict } from './outbox-machine.ts';
import type { NewOutboxRow, OutboxRow } from './outbox-store.ts';
import type { QuietAccounts } from './quiet-accounts.ts';
import type { SendRate } from './send-rate.ts';
import type { SurfaceState } from './send-surface.ts';

export interface SenderOptions {
  readonly core: Core;
  /** Sends that were just stored. */
  readonly recent: JustCommitted<NewOutboxRow>;
  readonly limits: () => ShareLimits;
  readonly policy: () => { readonly maxAttempts: number; readonly onUnknown: 'resend' | 'hold' };
  /** For how long a send is set aside that was under way at two deaths of the process. */
  readonly quarantineMs: () => number;
  readonly surface: (endpoint: string) => SurfaceState;
  readonly due: (at: number) => void;
  /** `put_off`: the host failed at what the call needed of it. */
  readonly ended?: (row: OutboxRow, verdict: SendVerdict['kind'] | 'put_off') => void;
}

export interface Pace {
  readonly rate: SendRate;
  readonly slots: CallSlots;
  /** For platforms that do not drop repeats, held until the result is stored: a crash leaves one call of an account without a result. */
  readonly alone: CallSlots;
  readonly quiet: QuietAccounts;
  readonly ours: HostFailureBackoff;
}
