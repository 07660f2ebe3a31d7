// Who has a part: of the inbox (inbox/admission.ts), and of the places in which handlers and sends run (lanes/places.ts).
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { GenerationView } from '../handling/plan/generation-view.ts';
import type { ShareLimits } from '../lanes/fair-shares.ts';

/** How many take deliveries: accounts that are enabled, and webhooks of plugins. */
export const takers = (endpoints: Endpoints, generation: GenerationView | undefined): number =>
  endpoints.enabled + (generation?.capabilities.ofKind('webhook').length ?? 0);

/** Sends mostly wait: for their turn at the rate of their endpoint, for the platform, for the disk. */
const OUTBOX_LIMITS = { concurrency: 4_096, endpointConcurrency: 128 };

/** Where each account has its part. */
export const sendShares = (endpoints: Endpoints): ShareLimits => ({
  ...OUTBOX_LIMITS,
  endpoints: () => endpoints.size,
  isThere: (endpoint) => endpoints.get(endpoint) !== undefined,
});

/** Kinds of handlers to which work comes that is of no account. */
const OWN_WORK = ['webhook', 'task', 'cron', 'subscribe'] as const;

/** Where each account has its part, enabled or not (what came before is handled), and so has each handler that is no account's. */
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
