// Endpoints: list, show, enable, disable, reconnect. An id is the short name, or `<owner>:<name>` with its slashes unencoded
// (`/api/endpoints/root/irc:irc~libera`).
import { integerOf, PAGE_QUERY } from '../request/query-check.ts';
import { tagOf } from '../request/revision.ts';
import { type Answer, type Route, route } from './route.ts';
import { servingFor } from './serving.ts';

const action = (name: 'enable' | 'disable' | 'reconnect', summary: string): Route =>
  route({
    method: 'POST',
    path: `/api/endpoints/{id+}/${name}`,
    scope: 'full',
    summary,
    body: 'Nothing',
    changes: true,
    revision: 'handler',
    answers: { 200: 'Endpoint', 412: 'Problem', 503: 'Problem' },
    handle: async ({ port, params, caller, revision, keep }) => {
      port.system.refuseUnlessServing(); // 503 before a 404: the name may exist in the next generation
      const answerOf = (endpoint: unknown): Answer => ({ status: 200, json: endpoint });
      const change = { caller: caller(), revision, keep: keep(answerOf) };
      return answerOf(await port.endpoints.act(params.id ?? '', name, change));
    },
  });

export const endpointRoutes = [
  route({
    method: 'GET',
    path: '/api/endpoints',
    scope: 'demo',
    summary: 'A page of the endpoints and their states, by id',
    query: PAGE_QUERY,
    answers: { 200: 'Endpoints' },
    handle: async ({ port, caller, query }) => ({
      status: 200,
      json: {
        ...servingFor(port, caller()),
        ...(await port.endpoints.list({
          after: query.after,
          limit: integerOf(query, 'limit', PAGE_QUERY),
          texts: caller().scope === 'full',
        })),
      },
    }),
  }),
  action('enable', 'Enables it; stored'),
  action('disable', 'Disables it; stored'),
  action('reconnect', 'Drops its connection and connects again now'),
  route({
    method: 'GET',
    path: '/api/endpoints/{id+}',
    scope: 'demo',
    summary: 'One endpoint; with its last error for full scope',
    answers: { 200: 'Endpoint', 503: 'Problem' },
    handle: async (exchange) => {
      exchange.port.system.refuseUnlessServing();
      const isFull = exchange.caller().scope === 'full';
      const { endpoint, revision } = await exchange.port.endpoints.show(exchange.params.id ?? '', isFull);
      return { status: 200, json: endpoint, ...(isFull ? { headers: { ETag: tagOf(revision) } } : {}) };
    },
  }),
];
