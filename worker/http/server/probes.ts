// Answers `GET /pub/health` and `GET /pub/ready` before Express, at the root and below `http.base`.
// Only the plain form of a probe is answered here: no query and no Origin. Any other form gets the same answer from the normal route.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_HEADERS } from '../answer/security-headers.ts';
import type { HostApi } from '../api/host-api.ts';
import { contextOf } from '../request/request-context.ts';
import { findHeadFault, hasContent } from '../request/request-head.ts';
import { HEALTH_PATH, READY_PATH } from '../routes/health.ts';

const JSON_HEADERS = Object.entries({ ...API_HEADERS, 'Content-Type': 'application/json; charset=utf-8' }).flat();

const fixed = (status: number, body: string) => ({
  status,
  body,
  headers: [...JSON_HEADERS, 'Content-Length', String(body.length)],
});
const HEALTHY = fixed(200, '{"status":"ok"}');
const READY = fixed(200, '{"ready":true}');
const NOT_READY = fixed(503, '{"ready":false}');

export interface Probe {
  readonly port: HostApi;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly isDraining: boolean;
}

/** True if the request was a probe and is answered. */
export function answerProbe({ port, request, response, isDraining }: Probe): boolean {
  const path = probePath(request, port);
  if (path === undefined || findHeadFault(request) !== undefined || hasContent(request)) return false;
  const answer = path === HEALTH_PATH ? HEALTHY : port.system.ready() ? READY : NOT_READY;
  const { requestId, startedAt } = contextOf(request);
  const headers = [...answer.headers, 'X-Request-Id', requestId];
  if (isDraining) headers.push('Connection', 'close');
  response.writeHead(answer.status, headers);
  response.end(answer.body);
  const ms = performance.now() - startedAt;
  port.observe({ kind: 'request', route: path, status: answer.status, ms, requestId, address: '' });
  return true;
}

function probePath({ method, url = '', headers }: IncomingMessage, port: HostApi): string | undefined {
  if ((method !== 'GET' && method !== 'HEAD') || !url.includes('/pub/') || headers.origin !== undefined)
    return undefined;
  if (url === HEALTH_PATH || url === READY_PATH) return url;
  const { base } = port.settings();
  if (url === base + HEALTH_PATH) return HEALTH_PATH;
  return url === base + READY_PATH ? READY_PATH : undefined;
}
