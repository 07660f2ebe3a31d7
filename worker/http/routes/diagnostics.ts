// Diagnostics for an operator: metrics, plugins, configuration, log lines and the OpenAPI document.
import { createHash } from 'node:crypto';
import { capabilityForDemo } from '../../../shared/identifiers.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { readDateTime } from '../../../shared/time/date-time.ts';
import { integerOf } from '../request/query-check.ts';
import { contextOf } from '../request/request-context.ts';
import { type QueryField, route } from './route.ts';
import { servingFor } from './serving.ts';

const LOG_QUERY = {
  lines: { type: 'integer', description: 'How many of the newest', minimum: 1, maximum: 1_000, default: 100 },
  level: {
    type: 'string',
    description: 'This level and above',
    maxLength: 5,
    enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
  },
  endpoint: { type: 'string', description: 'Lines of one endpoint', maxLength: 200 },
  since: { type: 'string', description: 'RFC 3339', maxLength: 40 },
} as const satisfies Record<string, QueryField>;

export const diagnosticRoutes = [
  route({
    method: 'POST',
    path: '/api/system/echo',
    scope: 'full',
    summary: 'What arrived of a body, and from which address: `svc doctor --edge` finds a proxy that changes it',
    raw: true,
    changes: true,
    answers: { 200: 'Echo' },
    handle: ({ bytes, request }) => ({
      status: 200,
      json: {
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        address: contextOf(request).address,
      },
    }),
  }),
  route({
    method: 'GET',
    path: '/api/metrics',
    scope: 'demo',
    summary: 'Metrics in the text format of Prometheus',
    answers: { 200: 'prometheus' },
    handle: async ({ port }) => {
      const { contentType, text } = await port.system.metrics();
      return { status: 200, text, headers: { 'Content-Type': contentType } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/plugins',
    scope: 'demo',
    summary: 'The plugins of the current generation, and the order in which their handlers are asked',
    answers: { 200: 'Plugins' },
    handle: ({ port, caller }) => {
      const { plugins, order } = port.system.plugins();
      const serving = servingFor(port, caller());
      if (caller().scope === 'full') return { status: 200, json: { ...serving, plugins, order } };
      // `use` comes from the configuration, which demo scope does not see.
      const shown = plugins.map(({ use: _use, capabilities, ...plugin }) => ({
        ...plugin,
        capabilities: capabilities.map(capabilityForDemo),
      }));
      const asked = order.map((one) => ({ ...one, capability: capabilityForDemo(one.capability) }));
      return { status: 200, json: { ...serving, plugins: shown, order: asked } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/config',
    scope: 'full',
    summary: 'The effective configuration with the source of each value, secrets masked',
    answers: { 200: 'Config' },
    handle: ({ port }) => ({ status: 200, json: port.system.config() }),
  }),
  route({
    method: 'GET',
    path: '/api/logs',
    scope: 'full',
    summary: 'The newest log lines',
    query: LOG_QUERY,
    answers: { 200: 'Logs' },
    handle: async ({ port, query }) => {
      if (query.since !== undefined && readDateTime(query.since) === undefined) {
        throw new SvcError('invalid_request', 'the parameter since must be a time as in RFC 3339');
      }
      const lines = integerOf(query, 'lines', LOG_QUERY);
      const { level, endpoint, since } = query;
      return { status: 200, json: { lines: await port.system.logs({ lines, level, endpoint, since }) } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/openapi.json',
    scope: 'demo',
    summary: 'This document',
    answers: { 200: 'OpenApi' },
    handle: async ({ port, routes }) => {
      const { openapiDocument } = await import('../answer/openapi.ts');
      const { version } = port.system.readiness();
      return { status: 200, json: openapiDocument({ routes, version, base: port.settings().base }) };
    },
  }),
];
