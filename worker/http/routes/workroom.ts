// The Workroom: its board, its journal, and the one way to change them. There is nothing here on a host that is none.
import { SvcError } from '../../../shared/svc-error.ts';
import type { WorkroomApi } from '../api/workroom-api.ts';
import { integerOf, PAGE_QUERY } from '../request/query-check.ts';
import { tagOf } from '../request/revision.ts';
import { type Answer, type Exchange, type Located, type LocateRequest, type QueryField, route } from './route.ts';

const ITEM_STATES = ['open', 'assigned', 'active', 'blocked', 'review', 'done', 'cancelled'];
const MOST_EVENTS = 500;

const locate = ({ port }: LocateRequest): Located => (port.workroom === undefined ? undefined : { kind: 'here' });

function roomOf({ port }: Pick<Exchange<undefined>, 'port'>): WorkroomApi {
  if (port.workroom === undefined) throw new SvcError('not_found', 'this host is no Workroom');
  return port.workroom;
}

const itemQuery = {
  ...PAGE_QUERY,
  board: { type: 'string', description: 'Items of this board', maxLength: 16 },
  state: { type: 'string', description: 'Items in this state', maxLength: 20, enum: ITEM_STATES },
  assignee: { type: 'string', description: 'Items of this member', maxLength: 32 },
} as const satisfies Record<string, QueryField>;

const eventQuery = {
  after: { type: 'integer', description: 'Events behind this number', minimum: 0, maximum: 1e15, default: 0 },
  limit: { type: 'integer', description: 'How many', minimum: 1, maximum: MOST_EVENTS, default: 100 },
  raw: { type: 'integer', description: '1: as they are stored and hashed', minimum: 0, maximum: 1, default: 0 },
  stream: { type: 'string', description: 'Events of this stream: team, board/<id>, item/<id>', maxLength: 64 },
} as const satisfies Record<string, QueryField>;

export const workroomRoutes = [
  route({
    method: 'GET',
    path: '/api/workroom',
    scope: 'demo',
    summary: 'Head of the journal, its last proof, items by board and state',
    answers: { 200: 'WorkOverview' },
    locate,
    handle: async (exchange) => ({ status: 200, json: await roomOf(exchange).overview() }),
  }),
  route({
    method: 'GET',
    path: '/api/workroom/items',
    scope: 'demo',
    summary: 'A page of the items, the last changed first; without a state those that have not ended',
    query: itemQuery,
    answers: { 200: 'WorkItemPage' },
    locate,
    handle: async (exchange) => {
      const { board, state, assignee, after } = exchange.query;
      const limit = integerOf(exchange.query, 'limit', itemQuery);
      const texts = exchange.caller().scope === 'full';
      return { status: 200, json: await roomOf(exchange).items({ board, state, assignee, after, limit, texts }) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/workroom/items/{id}',
    scope: 'demo',
    summary: 'One item; its ETag is its version',
    answers: { 200: 'WorkItem' },
    locate,
    handle: async (exchange) => {
      const item = await roomOf(exchange).item(exchange.params.id ?? '', exchange.caller().scope === 'full');
      return { status: 200, json: item, headers: { ETag: tagOf(String(item.version)) } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/workroom/boards',
    scope: 'demo',
    summary: 'All boards; names, roles and conversations for full scope',
    answers: { 200: 'WorkBoards' },
    locate,
    handle: async (exchange) => ({
      status: 200,
      json: await roomOf(exchange).boards(exchange.caller().scope === 'full'),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/workroom/members',
    scope: 'demo',
    summary: 'The team; empty for demo scope',
    answers: { 200: 'WorkMembers' },
    locate,
    handle: async (exchange) => ({
      status: 200,
      json: await roomOf(exchange).members(exchange.caller().scope === 'full'),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/workroom/members/{id}/code',
    scope: 'full',
    summary: 'A code for /work join: one use, an hour',
    body: 'Nothing',
    changes: true,
    answers: { 200: 'JoinCode', 404: 'Problem' },
    locate,
    handle: async (exchange) => ({
      status: 200,
      json: await roomOf(exchange).code(exchange.caller(), exchange.params.id ?? ''),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/workroom/events',
    scope: 'full',
    summary: 'The journal in order of its numbers',
    query: eventQuery,
    answers: { 200: 'WorkEvents' },
    locate,
    handle: async (exchange) => ({
      status: 200,
      json: await roomOf(exchange).events({
        after: integerOf(exchange.query, 'after', eventQuery),
        limit: integerOf(exchange.query, 'limit', eventQuery),
        stream: exchange.query.stream,
        raw: exchange.query.raw === '1',
      }),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/workroom/commands',
    scope: 'full',
    summary: 'Changes the board; the Idempotency-Key is the command id, If-Match the version of the item',
    body: 'WorkCommand',
    changes: true,
    revision: 'handler',
    answers: { 200: 'WorkAccepted', 409: 'Problem', 412: 'Problem', 503: 'Problem' },
    locate,
    handle: async (exchange) => {
      const { body, revision, keep, caller, request } = exchange;
      const key = request.headers['idempotency-key'];
      const answerOf = (json: unknown): Answer => ({ status: 200, json });
      return answerOf(
        await roomOf(exchange).command(caller(), body, {
          key: typeof key === 'string' ? key : undefined,
          ifVersion: versionOf(revision),
          keep: keep(answerOf),
        }),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/api/workroom/erase',
    scope: 'full',
    summary: 'Erases the words of an item, or of a member, for good; the journal still verifies',
    body: 'WorkErasure',
    changes: true,
    answers: { 200: 'WorkErased', 404: 'Problem', 409: 'Problem' },
    locate,
    handle: async (exchange) => ({
      status: 200,
      json: await roomOf(exchange).erase(exchange.caller(), exchange.body as Parameters<WorkroomApi['erase']>[1]),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/workroom/verify',
    scope: 'full',
    summary: 'Proves journal and catalog now',
    body: 'Nothing',
    changes: true,
    answers: { 200: 'Verification' },
    locate,
    handle: async (exchange) => ({ status: 200, json: await roomOf(exchange).verify() }),
  }),
];

function versionOf(revision: string | undefined): number | undefined {
  if (revision === undefined) return undefined;
  if (!/^\d{1,15}$/.test(revision)) throw new SvcError('invalid_request', 'If-Match takes the version of an item: "7"');
  return Number(revision);
}
