// Asks `/pub/health` where people reach the host, and at the bound address where nothing answers there. No redirects, no token.
import type { HealthAnswer } from '../../../shared/api/recovery/acceptance.ts';
import { messageOf } from '../../../shared/svc-error.ts';

const LIMIT_MS = 5_000;
const MAX_BYTES = 1_024;

/** `address`: `http.publicUrl` with the base path, null without one. `bound`: the address of the host on this machine. */
export async function askHealth(
  { address, bound }: { readonly address: string | null; readonly bound: string },
  signal: AbortSignal,
): Promise<HealthAnswer[]> {
  const first = await healthAt(address ?? bound, signal);
  return address === null || first.status !== null ? [first] : [first, await healthAt(bound, signal)];
}

async function healthAt(base: string, signal: AbortSignal): Promise<HealthAnswer> {
  const url = `${base}/pub/health`;
  const startedAt = performance.now();
  const end = (status: number | null, reason: string | null): HealthAnswer => ({
    url,
    status,
    reason: reason?.slice(0, 500) ?? null,
    ms: Math.round(performance.now() - startedAt),
  });
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    const response = await fetch(url, { redirect: 'manual', signal: limit, headers: { connection: 'close' } });
    const text = (await response.text()).slice(0, MAX_BYTES);
    if (response.status !== 200) return end(response.status, `answers ${response.status}`);
    return end(200, isHealth(text) ? null : 'answers 200 with something else than the health of svc');
  } catch (error) {
    signal.throwIfAborted();
    return end(null, `no answer: ${causeOf(error)}`);
  }
}

function isHealth(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly status?: unknown } | null)?.status === 'ok';
  } catch {
    return false;
  }
}

/** `fetch failed` says nothing; its cause does. */
const causeOf = (error: unknown): string => {
  if (error instanceof Error && error.name === 'TimeoutError') return `none within ${LIMIT_MS / 1_000} s`;
  const cause = error instanceof Error ? error.cause : undefined;
  return messageOf(cause ?? error) || String((cause as NodeJS.ErrnoException | undefined)?.code ?? 'failed');
};
