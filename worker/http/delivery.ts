// A request as webhooks and plugin routes see it: bytes, and headers by lower-case name, nothing interpreted.
import type { RawDelivery } from './host-port.ts';
import type { Exchange } from './route.ts';

/** Made when the body is complete: that moment is when it was received. */
export function deliveryOf(
  { request, query, bytes }: Pick<Exchange<undefined>, 'request' | 'query' | 'bytes'>,
  path: string,
): RawDelivery {
  const headers: Record<string, string | undefined> = {};
  for (const name in request.headers) {
    const value = request.headers[name];
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { method: request.method ?? 'POST', path, query, headers, body: bytes, receivedAt: Date.now() };
}
