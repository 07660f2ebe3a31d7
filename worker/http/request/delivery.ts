// A request in the form that webhooks and plugin routes see: raw bytes, and headers by lower-case name.
// A token of the host is removed from the headers, because adapters and plugins must not see it.
import type { RawDelivery } from '../api/delivery-api.ts';
import type { Exchange } from '../routes/route.ts';

/** Call it when the body is complete: `receivedAt` is set to now. */
export function deliveryOf(
  { request, query, bytes, isTokenOurs }: Pick<Exchange<undefined>, 'request' | 'query' | 'bytes' | 'isTokenOurs'>,
  path: string,
): RawDelivery {
  const headers: Record<string, string | undefined> = {};
  for (const name in request.headers) {
    if (name === 'authorization' && isTokenOurs()) continue;
    const value = request.headers[name];
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { method: request.method ?? 'POST', path, query, headers, body: bytes, receivedAt: Date.now() };
}
