// Acceptance: the six questions about the running host, and the answer of a person.
import { type Answer, type QueryField, type Route, route } from '../route.ts';

const QUERY = {
  since: { type: 'string', description: 'Traffic counts from this RFC 3339 time', maxLength: 40 },
  within: {
    type: 'integer',
    description: 'Traffic of so many seconds counts; left out: a day. An open release has its own begin',
    minimum: 1,
    maximum: 31_622_400,
  },
} as const satisfies Record<string, QueryField>;

const answerOf = (json: unknown): Answer => ({ status: 200, json });

export const acceptanceRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/system/acceptance',
    scope: 'full',
    summary: 'Whether this host can be accepted: each question with evidence and remedy',
    query: QUERY,
    answers: { 200: 'Acceptance' },
    handle: async ({ port, query: { since, within } }) =>
      answerOf(
        await port.acceptance.judge({
          ...(since === undefined ? {} : { since }),
          ...(within === undefined ? {} : { within: Number(within) }),
        }),
      ),
  }),
  route({
    method: 'POST',
    path: '/api/system/acceptance',
    scope: 'full',
    summary: 'Judges again; stores it if each question is answered yes, or is an unknown that the body settles',
    body: 'AcceptanceAsk',
    changes: true,
    answers: { 200: 'Acceptance' },
    handle: async ({ port, caller, body, keep }) =>
      answerOf(await port.acceptance.accept(caller(), body, keep(answerOf))),
  }),
];
