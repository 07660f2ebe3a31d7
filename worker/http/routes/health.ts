// Liveness and readiness for probes: no token, no detail. The server answers them before Express where it can
// (server.ts); these entries are what the table, the document and other methods see.
import { type Answer, route } from './route.ts';

export const HEALTH_PATH = '/pub/health';
export const READY_PATH = '/pub/ready';

const HEALTHY: Answer = { status: 200, json: { status: 'ok' } };
const READY: Answer = { status: 200, json: { ready: true } };
const NOT_READY: Answer = { status: 503, json: { ready: false } };

export const healthRoutes = [
  route({
    method: 'GET',
    path: HEALTH_PATH,
    scope: 'none',
    summary: 'Whether the process answers',
    answers: { 200: 'Health' },
    handle: () => HEALTHY,
  }),
  route({
    method: 'GET',
    path: READY_PATH,
    scope: 'none',
    summary: 'Whether the host is ready, and nothing more',
    answers: { 200: 'Ready', 503: 'Ready' },
    handle: ({ port }) => (port.system.ready() ? READY : NOT_READY),
  }),
];
