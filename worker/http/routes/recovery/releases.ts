// Releases: list and show. Their steps are commands alone, since a step stops the host.
import { type Route, route } from '../route.ts';

export const releaseRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/releases',
    scope: 'demo',
    summary: 'Releases, the newest first, with state, verdict and the next command',
    answers: { 200: 'Releases' },
    handle: async ({ port, caller }) => ({ status: 200, json: await port.releases.list(caller().scope === 'full') }),
  }),
  route({
    method: 'GET',
    path: '/api/releases/{name}',
    scope: 'demo',
    summary: 'One release with its record',
    answers: { 200: 'Release' },
    handle: async ({ port, caller, params }) => ({
      status: 200,
      json: await port.releases.show(params['name'] ?? '', caller().scope === 'full'),
    }),
  }),
];
