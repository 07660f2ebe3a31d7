// The event history as a resumable stream, as pages, or over a WebSocket.
import { SvcError } from '../../../shared/svc-error.ts';
import type { Caller } from '../api/caller.ts';
import type { HostApi } from '../api/host-api.ts';
import { integerOf } from '../request/query-check.ts';
import { contextOf } from '../request/request-context.ts';
import { type Exchange, type Handled, type QueryField, route } from './route.ts';

const filters = {
  types: { type: 'string', description: 'Event types, comma separated, `*` at the end of one', maxLength: 2_000 },
  endpoints: { type: 'string', description: 'Endpoints, comma separated', maxLength: 2_000 },
} as const satisfies Record<string, QueryField>;

const resume = {
  lastEventId: {
    type: 'string',
    description: 'Resume after this event; the Last-Event-ID header beats it',
    maxLength: 4_096,
  },
  gap: {
    type: 'string',
    description: 'Where to go on when the id cannot be resumed',
    maxLength: 6,
    enum: ['oldest', 'head', 'fail'],
  },
} as const satisfies Record<string, QueryField>;

const EVENT_QUERY = {
  format: { type: 'string', description: '`json`: one page instead of a stream', maxLength: 4, enum: ['json', 'sse'] },
  after: { type: 'string', description: 'Page: events after this one', maxLength: 4_096 },
  limit: { type: 'integer', description: 'Page: how many', minimum: 1, maximum: 1_000, default: 100 },
  ...filters,
  ...resume,
} as const satisfies Record<string, QueryField>;

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/api/events',
    scope: 'demo',
    summary: 'The event stream (SSE), resumable by Last-Event-ID, or a page of the history',
    query: EVENT_QUERY,
    answers: { 200: 'event-stream', 410: 'Problem', 429: 'Problem' },
    handle: (exchange) => {
      const isPage = exchange.query.format === 'json';
      checkForm(exchange.query, isPage);
      return isPage ? page(exchange) : stream(exchange);
    },
  }),
  route({
    method: 'GET',
    path: '/api/ws',
    scope: 'demo',
    summary: 'The same events over a WebSocket; a wrong token that came as subprotocol ends it with 1008',
    query: { ...filters, ...resume },
    answers: { 101: 'websocket', 426: 'Problem' },
    handle: () => {
      throw new SvcError('upgrade_required', 'this address speaks WebSocket', { hint: 'Send Upgrade: websocket.' });
    },
  }),
];

/** Throws if a page is asked for with a parameter of the stream, or the reverse. Ignoring it would skip events without a sign. */
function checkForm(query: Exchange<undefined>['query'], isPage: boolean): void {
  const other = isPage ? (['lastEventId'] as const) : (['after', 'limit'] as const);
  const given = other.find((name) => query[name] !== undefined);
  if (given === undefined) return;
  throw new SvcError('invalid_request', `the parameter ${given} is not one of ${isPage ? 'a page' : 'the stream'}`, {
    hint: isPage ? 'A page begins after `after`.' : 'The stream begins after `lastEventId`; pages take format=json.',
  });
}

/** Throws `too_many_requests` if the token has its maximum of open streams. */
export function checkStreamLimit(port: HostApi, caller: Caller): void {
  const { streamsPerToken } = port.settings().limits;
  if (port.events.openStreams(caller.actor) < streamsPerToken) return;
  throw new SvcError('too_many_requests', `a token has at most ${streamsPerToken} streams open`, {
    hint: 'Close a stream, or raise http.limits.streamsPerToken.',
  });
}

async function page({ port, caller, query }: Exchange<undefined>): Promise<Handled> {
  const json = await port.events.page({
    caller: caller(),
    after: query.after,
    limit: integerOf(query, 'limit', EVENT_QUERY),
    types: query.types,
    endpoints: query.endpoints,
  });
  return { status: 200, json };
}

async function stream({ port, caller, query, request, response }: Exchange<undefined>): Promise<Handled> {
  checkStreamLimit(port, caller());
  const header = request.headers['last-event-id'];
  contextOf(request).takenAt = performance.now();
  await port.events.stream(request, response, {
    caller: caller(),
    // An empty header names no event, so the query parameter counts.
    lastEventId: (Array.isArray(header) ? header[0] : header) || query.lastEventId,
    types: query.types,
    endpoints: query.endpoints,
    gap: query.gap === 'head' || query.gap === 'fail' ? query.gap : 'oldest',
  });
  return 'taken';
}
