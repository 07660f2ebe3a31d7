// Reads the endpoints of the running host from all pages.
import type { HostClient } from '../command.ts';

export type Endpoint = Readonly<Record<string, unknown>>;

interface Page {
  readonly endpoints: readonly Endpoint[];
  readonly next?: string;
}

/** The first request has no parameters, because an older host rejects them. It returns all endpoints at once. */
export async function allEndpoints(host: HostClient): Promise<readonly Endpoint[]> {
  const all: Endpoint[] = [];
  let query: string | undefined = '';
  while (query !== undefined) {
    const { endpoints, next } = (await host.request('GET', `/api/endpoints${query}`)).body as Page;
    all.push(...endpoints);
    query = next === undefined ? undefined : `?after=${encodeURIComponent(next)}`;
  }
  return all;
}
