// Calls that are under way for a while, as those to real platforms are: before the platform has one, and after it. Whose caller is gone before it
// has arrived was never made.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

export interface Way {
  readonly thereMs: number;
  readonly backMs: number;
}
/** Asked at each call; undefined: at once. */
export type Pace = (route: string) => Way | undefined;

export const paced =
  (of: { readonly pace: Pace | undefined }, listener: RequestListener): RequestListener =>
  (request, response) => {
    const way = of.pace?.(`${request.method} ${request.url}`);
    if (way === undefined) return listener(request, response);
    if (way.backMs > 0) endLate(response, way.backMs);
    if (way.thereMs === 0) return listener(request, response);
    setTimeout(() => {
      if (!isGone(request, response)) listener(request, response);
    }, way.thereMs);
  };

function endLate(response: ServerResponse, ms: number): void {
  const end = response.end.bind(response) as (...rest: unknown[]) => ServerResponse;
  response.end = ((...rest: unknown[]) => {
    setTimeout(() => {
      if (!response.destroyed) end(...rest);
    }, ms);
    return response;
  }) as ServerResponse['end'];
}

const isGone = ({ socket }: IncomingMessage, { destroyed }: ServerResponse): boolean => socket.destroyed || destroyed;
