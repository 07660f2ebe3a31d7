// A request as webhooks and plugin routes see it: bytes, and headers by lower-case name, nothing interpreted. A token of the host is for the
// host alone: they see an Authorization header only where it is something else.
import type { RawDelivery } from '../api/delivery-api.ts';
import type { Exchange } from '../routes/route.ts';

/** Made when the body is complete: that moment is when it was received. */
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
