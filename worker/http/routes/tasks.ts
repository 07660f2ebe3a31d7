// Waiting tasks: a page, and cancel. Full scope: keys and data hold texts and names of people.
import { integerOf, PAGE_QUERY } from '../request/query-check.ts';
import { type QueryField, type Route, route } from './route.ts';

const QUERY = {
  ...PAGE_QUERY,
  plugin: { type: 'string', description: 'Tasks of the plugin in this slot', maxLength: 64 },
} as const satisfies Record<string, QueryField>;

export const taskRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/tasks',
    scope: 'full',
    summary: 'Waiting tasks and the next times of cron handlers, the next one first',
    query: QUERY,
    answers: { 200: 'TaskPage' },
    handle: async ({ port, query }) => ({
      status: 200,
      json: await port.tasks.page({
        after: query.after,
        plugin: query.plugin,
        limit: integerOf(query, 'limit', QUERY),
      }),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/tasks/{id}/cancel',
    scope: 'full',
    summary: 'Takes a waiting task away before it is due',
    body: 'Nothing',
    changes: true,
    answers: { 200: 'Task', 404: 'Problem', 409: 'Problem' },
    handle: async ({ port, params, caller, keep }) => {
      const answerOf = (task: unknown) => ({ status: 200, json: task });
      return answerOf(await port.tasks.cancel(params.id ?? '', { caller: caller(), keep: keep(answerOf) }));
    },
  }),
];
