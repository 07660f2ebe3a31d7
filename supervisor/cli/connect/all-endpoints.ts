// The endpoints of the running host, of every page.
import type { HostClient } from '../command.ts';

export type Endpoint = Readonly<Record<string, unknown>>;

interface Page {
  readonly endpoints: readonly Endpoint[];
  readonly next?: string;
}

/** The first page is asked for without parameters, which an older host does not take: it answers with all. */
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
