// Counts the holders of shares: of the inbox bound, and of the concurrency of handlers and sends.
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { GenerationView } from '../handling/plan/generation-view.ts';
import type { ShareLimits } from '../lanes/fair-shares.ts';

/** Number of enabled accounts and plugin webhooks, which all take deliveries. */
export const takers = (endpoints: Endpoints, generation: GenerationView | undefined): number =>
  endpoints.enabled + (generation?.capabilities.ofKind('webhook').length ?? 0);

/** High limits, because sends mostly wait: for their rate limit, for the platform, for the disk. */
const OUTBOX_LIMITS = { concurrency: 4_096, endpointConcurrency: 128 };

/** Shares of sends: one an account. */
export const sendShares = (endpoints: Endpoints): ShareLimits => ({
  ...OUTBOX_LIMITS,
  endpoints: () => endpoints.size,
  isThere: (endpoint) => endpoints.get(endpoint) !== undefined,
});

/** Kinds of handlers whose work belongs to no account. */
const OWN_WORK = ['webhook', 'task', 'cron', 'subscribe'] as const;

/**
 * Shares of handlers: one an account and one for each handler without an account. Disabled accounts count too, because earlier arrivals are still
 * handled.
 */
export const handlerShares = (
  { concurrency, endpointConcurrency }: ShareLimits,
  endpoints: Endpoints,
  generation: GenerationView | undefined,
): ShareLimits => ({
  concurrency,
  endpointConcurrency,
  endpoints: () =>
    OWN_WORK.reduce((sum, kind) => sum + (generation?.capabilities.ofKind(kind).length ?? 0), endpoints.size),
  isThere: (endpoint) => endpoints.get(endpoint) !== undefined || generation?.capabilities.find(endpoint) !== undefined,
});
