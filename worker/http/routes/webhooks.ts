// Deliveries of platforms: raw bytes within the adapter's limit. The host verifies and stores a delivery before it answers.
// The platform's own authentication applies, and no token of the host is needed. At the same address, some platforms open a WebSocket.
// Others verify the address by GET.
import { SvcError } from '../../../shared/svc-error.ts';
import { answerOf } from '../answer/reply-answer.ts';
import { deliveryOf } from '../request/delivery.ts';
import { type Located, type LocateRequest, route } from './route.ts';

export const WEBHOOK_PATH = '/webhooks/{path+}';

const locate = ({ port, params, method }: LocateRequest): Located => {
  const path = params.path ?? '';
  const limitBytes = port.deliveries.limit(path);
  if (limitBytes === undefined) return undefined;
  if (method === 'POST') return { kind: 'here', limitBytes };
  const isAsked = port.deliveries.sockets.takes(path) || port.deliveries.challenge(path) !== undefined;
  if (method === 'GET' && isAsked) return { kind: 'here', limitBytes };
  return { kind: 'other_methods', allow: isAsked ? ['GET', 'POST'] : ['POST'] };
};

export const webhookRoutes = [
  route({
    method: 'POST',
    path: WEBHOOK_PATH,
    scope: 'none',
    summary: 'A delivery of a platform, signed by its rules',
    raw: true,
    locate,
    ofGeneration: true,
    answers: { 200: 'any', 202: 'any', 401: 'Problem', 413: 'Problem', 503: 'Problem' },
    handle: async (exchange) =>
      answerOf(await exchange.port.deliveries.deliver(deliveryOf(exchange, exchange.params.path ?? ''))),
  }),
  route({
    method: 'GET',
    path: WEBHOOK_PATH,
    scope: 'none',
    summary:
      'A platform asks whether the address is its own, or opens a WebSocket to an account, where its adapter takes that; by its rules',
    locate,
    ofGeneration: true,
    answers: { 101: 'websocket', 200: 'any', 401: 'Problem', 403: 'Problem', 426: 'Problem', 503: 'Problem' },
    handle: (exchange) => {
      const path = exchange.params.path ?? '';
      const challenge = exchange.port.deliveries.challenge(path);
      if (challenge !== undefined) return answerOf(challenge(deliveryOf(exchange, path)));
      throw new SvcError('upgrade_required', 'this address speaks WebSocket', { hint: 'Send Upgrade: websocket.' });
    },
  }),
];
