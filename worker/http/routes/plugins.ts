// Routes of plugins below `/plugins/<slot>`. A plugin declares each path with its methods and its scope (default: full).
// The scope is checked before the plugin sees the request.
import { SvcError } from '../../../shared/svc-error.ts';
import { answerOf } from '../answer/reply-answer.ts';
import { deliveryOf } from '../request/delivery.ts';
import {
  type Exchange,
  type Handled,
  type Located,
  type LocateRequest,
  type Method,
  type Route,
  route,
} from './route.ts';

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

export const pluginRoutes: readonly Route[] = METHODS.map((method) =>
  route({
    method,
    path: '/plugins/{slot}/{path*}',
    scope: 'full',
    summary: 'A route of a plugin',
    raw: true,
    locate,
    ofGeneration: true,
    answers: { 200: 'any', 503: 'Problem' },
    handle: run,
  }),
);

function locate({ port, params, method }: LocateRequest): Located {
  const found = port.deliveries.pluginRoute(method, params.slot ?? '', pathOf(params));
  if (found === undefined) return undefined;
  return 'allow' in found ? { kind: 'other_methods', allow: found.allow } : { kind: 'here', scope: found.scope };
}

async function run(exchange: Exchange<undefined>): Promise<Handled> {
  const { port, params, request } = exchange;
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const found = port.deliveries.pluginRoute(method, params.slot ?? '', pathOf(params));
  if (found === undefined || 'allow' in found) throw new SvcError('not_found', 'this route has just gone');
  return answerOf(await found.run(deliveryOf(exchange, pathOf(params))));
}

const pathOf = ({ path = '' }: Readonly<Record<string, string>>): string => (path === '' ? '/' : path);
