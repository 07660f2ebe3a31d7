// Options of the sender, and the limits that its attempts share.
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
  /** Cache of sends that were just stored. */
  readonly recent: JustCommitted<NewOutboxRow>;
  readonly limits: () => ShareLimits;
  readonly policy: () => { readonly maxAttempts: number; readonly onUnknown: 'resend' | 'hold' };
  /** How long a send is set aside that was under way at two process deaths, in milliseconds. */
  readonly quarantineMs: () => number;
  readonly surface: (endpoint: string) => SurfaceState;
  readonly due: (at: number) => void;
  /** Called after each attempt. `put_off`: the host failed, for example while reading a file. */
  readonly ended?: (row: OutboxRow, verdict: SendVerdict['kind'] | 'put_off') => void;
}

export interface Pace {
  readonly rate: SendRate;
  readonly slots: CallSlots;
  /**
   * For platforms that do not drop repeats. The slot is held until the result is stored. A crash then leaves at most one call of an account without a
   * result.
   */
  readonly alone: CallSlots;
  readonly quiet: QuietAccounts;
  readonly ours: HostFailureBackoff;
}
