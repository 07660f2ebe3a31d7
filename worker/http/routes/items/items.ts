// Inbox and outbox: pages, one item, replay, hold and drop. Demo scope sees neither texts nor names of people.

import { integerOf, PAGE_QUERY } from '../../request/query-check.ts';
import { tagOf } from '../../request/revision.ts';
import { type Answer, type QueryField, type Route, route } from '../route.ts';
import { INBOX_ITEM_STATES, OUTBOX_ITEM_STATES } from './item-states.ts';

const pageQuery = (states: readonly string[]) =>
  ({
    ...PAGE_QUERY,
    state: { type: 'string', description: 'Items in this state', maxLength: 20, enum: states },
    endpoint: { type: 'string', description: 'Items of this endpoint', maxLength: 200 },
  }) as const satisfies Record<string, QueryField>;

export function itemRoutes(store: 'inbox' | 'outbox'): readonly Route[] {
  const query = pageQuery(store === 'inbox' ? INBOX_ITEM_STATES : OUTBOX_ITEM_STATES);
  const item = store === 'inbox' ? 'InboxItem' : 'OutboxItem';
  const list = route({
    method: 'GET',
    path: `/api/${store}`,
    scope: 'demo',
    summary: `A page of the ${store}`,
    query,
    answers: { 200: store === 'inbox' ? 'InboxPage' : 'OutboxPage' },
    handle: async ({ port, caller, query: { after, state, endpoint }, query: given }) => ({
      status: 200,
      json: await port[store].page({
        after,
        limit: integerOf(given, 'limit', query),
        state,
        endpoint,
        texts: caller().scope === 'full',
      }),
    }),
  });
  const show = route({
    method: 'GET',
    path: `/api/${store}/{id}`,
    scope: 'demo',
    summary: `One item of the ${store}`,
    answers: { 200: item },
    handle: async ({ port, params, caller }) => {
      const shown = await port[store].show(params.id ?? '', caller().scope === 'full');
      return { status: 200, json: shown.item, headers: { ETag: tagOf(shown.revision) } };
    },
  });
  return [
    groupsRoute(store),
    ...bulkRoutes(store),
    list,
    show,
    replayRoute(store, item),
    ...REASONED.map((change) => reasonedRoute(store, item, change)),
  ];
}

const LOST_STATES = { inbox: ['dead'], outbox: ['dead', 'unknown'] } as const;

function groupsRoute(store: 'inbox' | 'outbox'): Route {
  const query = {
    state: { type: 'string', description: 'Items in this state', maxLength: 20, enum: LOST_STATES[store] },
  } as const satisfies Record<string, QueryField>;
  return route({
    method: 'GET',
    path: `/api/${store}/groups`,
    scope: 'demo',
    summary: `Dead items of the ${store} by cause`,
    query,
    answers: { 200: 'CauseGroups' },
    handle: async ({ port, caller, query: { state } }) => ({
      status: 200,
      json: await port[store].groups({
        state: state === 'unknown' ? 'unknown' : 'dead',
        texts: caller().scope === 'full',
      }),
    }),
  });
}

const bulkRoutes = (store: 'inbox' | 'outbox'): readonly Route[] => [
  route({
    method: 'POST',
    path: `/api/${store}/replay`,
    scope: 'full',
    summary: 'Puts dead items of a cause back in line, 500 at a time',
    body: 'BulkReplay',
    changes: true,
    answers: { 200: 'BulkResult', 409: 'Problem', 503: 'Problem' },
    handle: async ({ port, caller, body: { answer, ...selection }, keep }) =>
      answerOf(await port[store].replayMany(selection, { caller: caller(), answer, keep: keep(answerOf) })),
  }),
  route({
    method: 'POST',
    path: `/api/${store}/drop`,
    scope: 'full',
    summary: 'Ends dead items of a cause for good, 500 at a time, with a reason',
    body: 'BulkDrop',
    changes: true,
    answers: { 200: 'BulkResult', 409: 'Problem' },
    handle: async ({ port, caller, body: { reason, ...selection }, keep }) =>
      answerOf(await port[store].dropMany(selection, { caller: caller(), reason, keep: keep(answerOf) })),
  }),
];

const replayRoute = (store: 'inbox' | 'outbox', item: 'InboxItem' | 'OutboxItem'): Route =>
  route({
    method: 'POST',
    path: `/api/${store}/{id}/replay`,
    scope: 'full',
    summary: 'Puts it back in line',
    body: 'Replay',
    changes: true,
    revision: 'handler',
    answers: { 200: item, 409: 'Problem', 412: 'Problem' },
    handle: async ({ port, params, caller, revision, body, keep }) => {
      const change = { caller: caller(), revision, answer: body.answer, keep: keep(answerOf) };
      return answerOf(await port[store].replay(params.id ?? '', change));
    },
  });

const REASONED = [
  { action: 'hold', body: 'Hold', summary: 'Keeps it from being handled until it is replayed, with a reason' },
  { action: 'drop', body: 'Drop', summary: 'Ends it for good, with a reason' },
] as const;

const reasonedRoute = (
  store: 'inbox' | 'outbox',
  item: 'InboxItem' | 'OutboxItem',
  { action, body: schema, summary }: (typeof REASONED)[number],
): Route =>
  route({
    method: 'POST',
    path: `/api/${store}/{id}/${action}`,
    scope: 'full',
    summary,
    body: schema,
    changes: true,
    revision: 'handler',
    answers: { 200: item, 409: 'Problem', 412: 'Problem' },
    handle: async ({ port, params, caller, revision, body, keep }) => {
      const change = { caller: caller(), revision, reason: body.reason, keep: keep(answerOf) };
      return answerOf(await port[store][action](params.id ?? '', change));
    },
  });

const answerOf = (item: unknown): Answer => ({ status: 200, json: item });
