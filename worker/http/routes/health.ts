// Liveness and readiness for probes: no token and no details. The server answers plain probes before Express.
// These routes serve all other forms and put both into the OpenAPI document.
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
