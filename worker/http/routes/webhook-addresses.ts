// Addresses of webhooks: list them, and register one at its platform. Full scope, because an address reveals configuration.
import { route } from './route.ts';
import { servingFor } from './serving.ts';

export const webhookAddressRoutes = [
  route({
    method: 'GET',
    path: '/api/webhooks',
    scope: 'full',
    summary: 'The addresses to which platforms deliver',
    answers: { 200: 'WebhookAddresses' },
    handle: async ({ port, caller }) => ({
      status: 200,
      json: { ...servingFor(port, caller()), webhooks: port.webhooks.list() },
    }),
  }),
  route({
    method: 'POST',
    path: '/api/webhooks/{id+}/register',
    scope: 'full',
    summary: 'Tells the platform the address of this endpoint, where it has an API for that',
    body: 'Nothing',
    changes: true,
    answers: { 200: 'WebhookRegistered', 409: 'Problem', 502: 'Problem', 503: 'Problem' },
    handle: async ({ port, params }) => {
      port.system.refuseUnlessServing();
      return { status: 200, json: await port.webhooks.register(params.id ?? '') };
    },
  }),
];
