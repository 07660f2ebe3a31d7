// Everything that is decided about a request before code of its route runs. Requests and upgrades share it.
//
//   GATE-1  The target is parsed once, and every decision uses that result.
//   GATE-2  The order is: 400 for target and headers, 404, 405, then 401 and 403.
//   GATE-3  Below /api a token in the query is refused for every caller. A token in a body is refused when the body is read.
import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../../shared/svc-error.ts';
import type { StaticFiles } from '../answer/static-files.ts';
import type { Caller, Scope } from '../api/caller.ts';
import type { HostApi } from '../api/host-api.ts';
import type { Found, RouteTable } from '../routes/route-table.ts';
import { type Authenticator, type Credentials, checkScope } from './authenticate.ts';
import { contextOf } from './request-context.ts';
import { findHeadFault } from './request-head.ts';
import { parseTarget, type Target } from './target.ts';
import { refuseTokenInQuery } from './token-elsewhere.ts';

export interface GateParts {
  readonly port: HostApi;
  readonly files: StaticFiles;
  readonly table: RouteTable;
  readonly authenticator: Authenticator;
}

export interface Passed {
  readonly found: Found;
  readonly target: Target;
}

/** Does not name the configured path, because strangers read it too. */
const OUTSIDE = 'All but /pub/health and /pub/ready is below the path that http.base of the configuration names.';

/** Finds the route of a request. Throws 400, 404 or 405 for the client, in that order. */
export function findRoute({ port, files, table }: GateParts, request: IncomingMessage): Passed {
  const target = readTarget(request);
  const headFault = findHeadFault(request);
  if (headFault !== undefined) throw headFault;
  const path = pathBelowBase(target.path, port.settings().base);
  if (path?.startsWith('/api/') === true) refuseTokenInQuery(target.query);
  if (path === undefined) throw new SvcError('not_found', 'there is nothing at this address', { hint: OUTSIDE });
  return { found: table.find({ method: request.method ?? '', path, port, files }), target };
}

/** Authenticates for a scope and stores the caller in the request's context. Throws 401 or 403. */
export async function admit(
  { port, authenticator }: GateParts,
  request: IncomingMessage,
  { scope, credentials }: { readonly scope: Scope; readonly credentials: Credentials },
): Promise<Caller | undefined> {
  if (scope === 'none') return undefined;
  const context = contextOf(request);
  const { tokens } = port.settings();
  const identity = await authenticator.authenticate(credentials, context.address, tokens).catch((refusal: unknown) => {
    context.hasWrongToken = credentials.kind === 'token';
    throw refusal;
  });
  checkScope(identity, scope);
  context.caller = { requestId: context.requestId, ...identity };
  return context.caller;
}

function readTarget(request: IncomingMessage): Target {
  const verdict = parseTarget(request.url ?? '');
  if (verdict.kind === 'target') return verdict.target;
  if (verdict.kind === 'too_long') throw new SvcError('uri_too_long', 'the target is too long');
  throw new SvcError('invalid_request', verdict.reason);
}

/** Health and readiness answer at the root too. */
function pathBelowBase(path: string, base: string): string | undefined {
  if (base === '' || path === '/pub/health' || path === '/pub/ready') return path;
  if (path === base) return '/'; // the page, which redirects to the address with a slash
  return path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
}
