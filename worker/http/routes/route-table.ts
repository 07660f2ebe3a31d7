// The table of all routes, and the search for the route of a path. An unknown path is 404, an unknown method 405.
//
//   ROUTE-1  The order of checks is 404, then 405, then authentication.
//   ROUTE-2  The first path in the table that matches decides, whatever its methods are.
//   ROUTE-3  HEAD exists for every GET, OPTIONS for every path.
//   ROUTE-4  While no generation serves, an unknown path of a plugin or an account is 503. Platforms give up an address that answers 404.
import { SvcError } from '../../../shared/svc-error.ts';
import type { StaticFiles } from '../answer/static-files.ts';
import type { HostApi } from '../api/host-api.ts';
import { chatRoutes } from './chat.ts';
import { diagnosticRoutes } from './diagnostics.ts';
import { endpointRoutes } from './endpoints.ts';
import { eventRoutes } from './events.ts';
import { fileRoutes } from './files.ts';
import { healthRoutes } from './health.ts';
import { ingressRoutes } from './ingress.ts';
import { itemRoutes } from './items/items.ts';
import { jobRoutes } from './jobs.ts';
import { alertRoutes } from './monitoring/alerts.ts';
import { pageRoutes } from './page.ts';
import { pluginRoutes } from './plugins.ts';
import { acceptanceRoutes } from './recovery/acceptance.ts';
import { checkpointRoutes } from './recovery/checkpoints.ts';
import { releaseRoutes } from './recovery/releases.ts';
import type { Located, LocateRequest, Match, Route } from './route.ts';
import { systemRoutes } from './system.ts';
import { taskRoutes } from './tasks.ts';
import { webhookAddressRoutes } from './webhook-addresses.ts';
import { webhookRoutes } from './webhooks.ts';
import { workroomRoutes } from './workroom.ts';

/** All routes, in the order in which their paths are tried. */
export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...systemRoutes,
  ...ingressRoutes,
  ...eventRoutes,
  ...diagnosticRoutes,
  ...endpointRoutes,
  ...webhookAddressRoutes,
  ...itemRoutes('inbox'),
  ...itemRoutes('outbox'),
  ...workroomRoutes,
  ...taskRoutes,
  ...jobRoutes,
  ...checkpointRoutes,
  ...releaseRoutes,
  ...acceptanceRoutes,
  ...alertRoutes,
  ...chatRoutes,
  ...webhookRoutes,
  ...fileRoutes,
  ...pluginRoutes,
  ...pageRoutes,
];

interface Place {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly methods: ReadonlyMap<string, Route>;
  readonly first: Route;
}

export interface FindRequest {
  readonly method: string;
  /** Path below `http.base`. */
  readonly path: string;
  readonly port: HostApi;
  readonly files: StaticFiles;
}

export type Found =
  | { readonly kind: 'match'; readonly match: Match }
  | { readonly kind: 'options'; readonly allow: readonly string[] };

export class RouteTable {
  readonly #exact = new Map<string, Place>();
  /** Paths with parameters by their first segment, in table order. Paths whose first segment is a parameter are under ''. */
  readonly #places = new Map<string, readonly Place[]>();

  readonly routes: readonly Route[];

  constructor(routes: readonly Route[]) {
    this.routes = routes;
    const paths = [...new Set(routes.map(({ path }) => path))];
    const open: { readonly first: string; readonly place: Place }[] = [];
    for (const path of paths) {
      const place = placeOf(
        path,
        routes.filter((route) => route.path === path),
      );
      if (place.names.length === 0) this.#exact.set(path, place);
      else open.push({ first: firstSegment(path), place });
    }
    for (const key of new Set(['', ...open.map(({ first }) => first)])) {
      const fitting = open.filter(({ first }) => first === key || first === '');
      this.#places.set(
        key,
        fitting.map(({ place }) => place),
      );
    }
  }

  /** Throws `not_found`, `method_not_allowed` or `endpoint_unavailable`. */
  find({ method, path, port, files }: FindRequest): Found {
    for (const place of this.#candidates(path)) {
      const params = paramsOf(place, path);
      if (params === undefined) continue;
      const located = locate(place, { port, files, params, method: method === 'HEAD' ? 'GET' : method });
      if (located === undefined) {
        if (place.first.ofGeneration === true) port.system.refuseUnlessServing(); // 503: the path may exist later
        continue;
      }
      const allow = (): readonly string[] =>
        allowOf(located.kind === 'other_methods' ? located.allow : [...place.methods.keys()]);
      if (method === 'OPTIONS') return { kind: 'options', allow: allow() };
      const route = place.methods.get(method === 'HEAD' ? 'GET' : method);
      if (route === undefined || located.kind === 'other_methods') {
        throw new SvcError('method_not_allowed', 'this method is not allowed here', { details: { allow: allow() } });
      }
      return {
        kind: 'match',
        match: { route, params, scope: located.scope ?? route.scope, limitBytes: located.limitBytes },
      };
    }
    throw new SvcError('not_found', 'there is nothing at this address', {
      hint: 'All addresses are in /api/openapi.json.',
    });
  }

  #candidates(path: string): readonly Place[] {
    const open = this.#places.get(firstSegment(path)) ?? this.#places.get('') ?? [];
    const exact = this.#exact.get(path);
    return exact === undefined ? open : [exact, ...open];
  }
}

/** Parameters of a path. Undefined if the path does not match. */
function paramsOf({ pattern, names }: Place, path: string): Readonly<Record<string, string>> | undefined {
  const values = pattern.exec(path);
  if (values === null) return undefined;
  const params: Record<string, string> = {};
  names.forEach((name, at) => {
    params[name] = values[at + 1] ?? '';
  });
  return params;
}

/** The first segment, or '' if it is a parameter. */
function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  const first = path.slice(1, end === -1 ? undefined : end);
  return first.includes('{') ? '' : first;
}

const HERE: Located = { kind: 'here' };

const locate = ({ first }: Place, request: LocateRequest): Located =>
  first.locate === undefined ? HERE : first.locate(request);

const allowOf = (methods: readonly string[]): readonly string[] =>
  [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])].toSorted();

function placeOf(path: string, routes: readonly Route[]): Place {
  const names: string[] = [];
  const source = path.replace(
    /\/\{(\w+)([+*]?)\}|[.*+?^$()|[\]\\]/g,
    (whole, name: string | undefined, many: string | undefined) => {
      if (name === undefined) return `\\${whole}`;
      names.push(name);
      if (many === '*') return '((?:/.*)?)';
      return many === '+' ? '/(.+)' : '/([^/]+)';
    },
  );
  const [first] = routes;
  if (first === undefined) throw new Error('a path without routes');
  return {
    pattern: new RegExp(`^${source}$`),
    names,
    methods: new Map(routes.map((route) => [route.method, route])),
    first,
  };
}
