// Deliveries of platforms: the bytes as they came, within the limit of their adapter, handed to the host, which verifies
// and stores before it answers. A platform's own rules hold here: no token of ours is asked for.
import { deliveryOf } from '../delivery.ts';
import { answerOf } from '../reply-answer.ts';
import { type Located, type LocateRequest, route } from '../route.ts';

const locate = ({ port, params }: LocateRequest): Located => {
  const limitBytes = port.webhookLimit(params.path ?? '');
  return limitBytes === undefined ? undefined : { kind: 'here', limitBytes };
};

export const webhookRoutes = [
  route({
    method: 'POST',
    path: '/webhooks/{path+}',
    scope: 'none',
    summary: 'A delivery of a platform, signed by its rules',
    raw: true,
    locate,
    answers: { 200: 'any', 202: 'any', 401: 'Problem', 413: 'Problem', 503: 'Problem' },
    handle: async (exchange) => answerOf(await exchange.port.deliver(deliveryOf(exchange, exchange.params.path ?? ''))),
  }),
];
