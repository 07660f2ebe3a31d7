// `svc doctor --edge URL`: checks that a proxy in front of the host passes everything unchanged.
//
//   EDGE-1  Over plain HTTP the token is sent to loopback only, unless that is allowed.
//   EDGE-2  The checks change nothing in the host. They read the status, echoes and the stream, and open and close a WebSocket.
import { createHash, randomBytes } from 'node:crypto';
import { MOST_SKEW_MS, skewMs } from '../../../../shared/time/clock-skew.ts';
import { type Check, type Edge, type Finding, fault, ok, type Subject, skip, warn } from '../check.ts';
import { ask, type EdgeAnswer, openSocket } from './edge-request.ts';
import { forwarded } from './forwarded-check.ts';
import { idle } from './idle-check.ts';

const BODY_BYTES = 64 * 1024;
/** Above the largest webhook of a platform (25 MB). It is only announced. */
const LARGE_BYTES = 26 * 1024 * 1024;
/** Shorter than the heartbeat interval of 15 s: a proxy that buffers until then is detected. */
const FIRST_EVENT_MS = 3_000;

export const EDGE_CHECKS: readonly Check[] = [
  { id: 'edge.auth', title: 'The Authorization header gets through the proxy', run: withEdge(auth) },
  { id: 'edge.body', title: 'A body gets through byte by byte', run: withEdge(body) },
  { id: 'edge.stream', title: 'Events get through at once, and are kept in no cache', run: withEdge(stream) },
  { id: 'edge.websocket', title: 'A WebSocket gets through', run: withEdge(websocket) },
  { id: 'edge.forwarded', title: 'No client can say which address it has', run: withEdge(forwarded) },
  { id: 'edge.idle', title: 'A stream without events stays open (with --idle)', run: withEdge(idle) },
  { id: 'edge.cache', title: 'No answer of the interface comes from a cache', run: withEdge(cache) },
  { id: 'edge.clock', title: 'The clocks of this machine and of the proxy agree', run: withEdge(clock) },
];

function withEdge(run: (edge: Edge) => Promise<Finding>): (subject: Subject) => Promise<Finding> | Finding {
  return ({ edge }) => {
    if (edge === undefined) return skip('only with --edge <url>');
    if (edge.token === '') return fault('there is no token to ask with', 'SVC_HTTP_TOKEN=… svc doctor --edge <url>');
    if (!edge.maySend)
      return fault(
        'the token would cross a network in the clear',
        'use https, or --insecure-http where the network is yours',
      );
    return run(edge).catch((error: unknown) =>
      fault(
        `${edge.url} does not answer: ${error instanceof Error ? error.message : String(error)}`,
        'look at the log of the proxy',
      ),
    );
  };
}

async function auth(edge: Edge): Promise<Finding> {
  const { status } = await ask(edge, { path: '/api/system/status' });
  switch (status) {
    case 200:
      return ok('kept');
    case 401:
      return fault(
        'the host got no token, or another one',
        'proxy_pass_header Authorization; or check the token itself',
      );
    case 404:
      return fault('/api/system/status is not there', 'does the address hold http.base, and the proxy keep it?');
    default:
      return fault(`/api/system/status answered with ${status}`, 'svc runtime status; then the log of the proxy');
  }
}

async function body(edge: Edge): Promise<Finding> {
  const bytes = randomBytes(BODY_BYTES);
  const { status, text } = await ask(edge, { method: 'POST', path: '/api/system/echo', body: bytes });
  if (status === 413)
    return fault(`a body of ${BODY_BYTES} bytes is refused`, 'raise the limit of the proxy: client_max_body_size 1m');
  if (status !== 200) return fault(`an echo answered with ${status}`, 'let POST and any Content-Type through');
  if (!text.includes(createHash('sha256').update(bytes).digest('hex')))
    return fault(
      'the body was changed: signatures of webhooks will not hold',
      'take out what rewrites or decompresses bodies',
    );
  return (await isRefusedBeforeHost(edge))
    ? warn(
        `the proxy refuses a body of ${LARGE_BYTES} bytes, and webhooks of GitHub have up to 25 MB`,
        'client_max_body_size 26m',
      )
    : ok(`${BODY_BYTES} bytes arrived as they were`);
}

/** The host refuses by its own limit, too, and says so in its own format. */
async function isRefusedBeforeHost(edge: Edge): Promise<boolean> {
  const asked = ask(edge, { method: 'POST', path: '/api/system/echo', announces: LARGE_BYTES });
  const answer = await asked.catch(() => undefined); // a proxy may cut a body that it does not want
  return answer?.status === 413 && !(answer.headers['content-type'] ?? '').includes('application/problem+json');
}

async function stream(edge: Edge): Promise<Finding> {
  const { status, headers, text, late } = await ask(edge, {
    path: '/api/events',
    until: 'svc.hello',
    timeoutMs: FIRST_EVENT_MS,
  });
  if (status !== 200 && !late) return fault(`/api/events answered with ${status}`, 'svc doctor --only edge.auth');
  if (!text.includes('svc.hello'))
    return fault(
      `no event within ${FIRST_EVENT_MS / 1_000} s: the proxy keeps the stream back`,
      'proxy_buffering off, for /api/events',
    );
  return /no-store/.test(headers['cache-control'] ?? '')
    ? ok('the first event came at once')
    : fault('the proxy takes Cache-Control: no-store away', 'let the headers of /api/events through as they are');
}

async function websocket(edge: Edge): Promise<Finding> {
  const status = await openSocket(edge, '/api/ws');
  return status === 101
    ? ok('upgraded')
    : fault(
        `an upgrade is answered with ${status}`,
        'proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"',
      );
}

async function cache(edge: Edge): Promise<Finding> {
  const first = await ask(edge, { path: '/api/system/status' });
  const second = await ask(edge, { path: '/api/system/status' });
  const stale = (answer: EdgeAnswer): boolean =>
    answer.headers['age'] !== undefined || /hit/i.test(answer.headers['x-cache'] ?? '');
  const sameId =
    first.headers['x-request-id'] !== undefined && first.headers['x-request-id'] === second.headers['x-request-id'];
  return stale(first) || stale(second) || sameId
    ? fault('an answer came from a cache', 'proxy_cache off, for /api')
    : ok('two questions were answered by the host');
}

async function clock(edge: Edge): Promise<Finding> {
  const askedAt = Date.now();
  const { headers } = await ask(edge, { path: '/pub/health' });
  const told = Date.parse(headers['date'] ?? '');
  if (Number.isNaN(told)) return skip('the answer has no date');
  const apartMs = skewMs({ told, askedAt, answeredAt: Date.now() });
  return apartMs > MOST_SKEW_MS
    ? warn(
        `they differ by ${Math.round(apartMs / 1_000)} s: signatures with a time will be refused`,
        'timedatectl set-ntp true, on the machine that is wrong',
      )
    : ok('they agree');
}
