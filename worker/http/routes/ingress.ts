// Ingress: open, or paused with incoming messages parked or rejected.
import { revisionOf, tagOf } from '../request/revision.ts';
import { type Answer, route } from './route.ts';

export const ingressRoutes = [
  route({
    method: 'GET',
    path: '/api/system/ingress',
    scope: 'demo',
    summary: 'Whether deliveries are taken, and what still runs',
    answers: { 200: 'IngressStatus' },
    handle: async ({ port, caller }) => {
      const state = port.ingress.state();
      const status = { ...(await port.ingress.status()), ...state };
      // The ETag is a digest that includes the reason. Only callers with full scope get it, or others could guess the reason from the
      // digest.
      if (caller().scope !== 'full') return { status: 200, json: { ...status, reason: null, by: null } };
      return { status: 200, json: status, headers: { ETag: tagOf(revisionOf(state)) } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/system/ingress/preview',
    scope: 'full',
    summary: 'What opening it would begin now',
    answers: { 200: 'IngressPreview' },
    handle: async ({ port }) => ({ status: 200, json: await port.ingress.preview() }),
  }),
  route({
    method: 'PUT',
    path: '/api/system/ingress',
    scope: 'full',
    summary: 'Pauses or opens it; stored, survives restarts',
    body: 'IngressChange',
    changes: true,
    revision: 'handler',
    answers: { 200: 'Ingress', 412: 'Problem' },
    handle: async ({ port, caller, body, revision, keep }) => {
      const isMeant = (state: unknown): boolean => revision === undefined || revision === revisionOf(state);
      const answerOf = (state: unknown): Answer => ({
        status: 200,
        json: state,
        headers: { ETag: tagOf(revisionOf(state)) },
      });
      return answerOf(await port.ingress.set(caller(), body, { isMeant, keep: keep(answerOf) }));
    },
  }),
];
