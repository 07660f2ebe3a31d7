// Values of labels that are known before the first event. A counter begins at 0 for each: `increase()` does not see a series that is born at 1.
import { gapReasonSchema } from '../../shared/api/event.ts';
import type { ItemOutcome } from '../inbox/dispatcher.ts';
import type { Payload } from '../inbox/payload.ts';
import type { SendVerdict } from '../outbox/outbox-machine.ts';

/** How a delivery over HTTP ended. `ignored`: nothing in it to handle. `rejected`: ingress paused, or too much waits. */
export type WebhookOutcome =
  | 'accepted'
  | 'duplicate'
  | 'ignored'
  | 'bad_signature'
  | 'unparsable'
  | 'rejected'
  | 'failed';

/** A value that is missing here, or is one too many, does not compile. */
const all = <V extends string>(values: Readonly<Record<V, true>>): readonly string[] => Object.keys(values);

export const WEBHOOK_OUTCOMES = all<WebhookOutcome>({
  accepted: true,
  duplicate: true,
  ignored: true,
  bad_signature: true,
  unparsable: true,
  rejected: true,
  failed: true,
});
export const ITEM_OUTCOMES = all<Exclude<ItemOutcome, 'gone'>>({
  done: true,
  dead: true,
  waiting: true,
  retired: true,
});
export const SEND_OUTCOMES = all<SendVerdict['kind'] | 'put_off'>({
  sent: true,
  waiting: true,
  unknown: true,
  dead: true,
  put_off: true,
});
export const ITEM_KINDS = all<Payload['kind']>({ arrival: true, webhook: true, task: true, event: true, cron: true });
export const GAP_REASONS: readonly string[] = gapReasonSchema.enum;
/** Ends of the worker before, but for `first`. */
export const RESTART_REASONS = ['crashed', 'stopped', 'restart_requested', 'restart_required', 'config'] as const;

/** The values of each label, read at each scrape. */
export type LabelValues<L extends string> = Readonly<Record<L, () => readonly string[]>>;

/** Every combination of values. */
export function combinations<L extends string>(labels: LabelValues<L>): readonly Record<L, string>[] {
  let made: Partial<Record<L, string>>[] = [{}];
  for (const name of Object.keys(labels) as L[])
    made = made.flatMap((one) => labels[name]().map((value) => ({ ...one, [name]: value })));
  return made as Record<L, string>[];
}
