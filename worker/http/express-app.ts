// The path of a request through the interface, in order: route, origin, caller, body, handler, answer.
// Express runs it and passes every thrown error to one handler.
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { afterConnections } from '../../shared/process/connections-first.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { prepareStream, respond, respondProblem } from './answer/respond.ts';
import type { Caller } from './api/caller.ts';
import type { HttpLog } from './log.ts';
import { readCredentials } from './request/authenticate.ts';
import { isApi, readContent, refuseTokenOfStranger } from './request/content.ts';
import { corsHeaders, preflightHeaders } from './request/cors.ts';
import { admit, findRoute, type GateParts, type Passed } from './request/gate.ts';
import { keepNone, runOnce } from './request/idempotency.ts';
import type { BodyValidators } from './request/json-body.ts';
import { checkQuery } from './request/query-check.ts';
import { contextOf } from './request/request-context.ts';
import { readRevision, requireRevision } from './request/revision.ts';
import type { Answer, Exchange, Handled, Match, Route } from './routes/route.ts';

export interface AppParts extends GateParts {
  readonly validators: BodyValidators;
  readonly log: HttpLog;
  readonly isDraining: () => boolean;
}

/** Serves and answers one request. Never rejects. */
async function serveRequest(parts: AppParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await serve(parts, request, response);
  } catch (error) {
    report(parts.log, error, request);
    respondProblem(request, response, error);
  }
}

export function createExpressApp(parts: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.use((request: Request, response: Response) => serveRequest(parts, request, response));
  // oxlint-disable-next-line max-params -- Express knows an error handler by its four parameters
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    report(parts.log, error, request);
    respondProblem(request, response, error);
  });
  return app;
}

async function serve(parts: AppParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const settings = parts.port.settings();
  setHeaders(response, corsHeaders(request, settings));
  if (parts.isDraining()) response.setHeader('Connection', 'close');
  const { requestId, notStarted } = contextOf(request);
  if (notStarted !== undefined) throw notStarted;
  const passed = findRoute(parts, request);
  if (passed.found.kind === 'options') {
    const headers = { ...preflightHeaders(request, settings), Allow: passed.found.allow.join(', ') };
    return respond(response, { status: 204, headers }, requestId);
  }
  const handled = await run(parts, { request, response, passed, match: passed.found.match });
  if (handled !== 'taken') respond(response, handled, requestId);
}

interface Run {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly passed: Passed;
  readonly match: Match;
}

async function run(parts: AppParts, { request, response, passed, match }: Run): Promise<Handled> {
  const { port, files, table } = parts;
  const { route, params } = match;
  const context = contextOf(request);
  context.match = match;
  const credentials = readCredentials(request.headers.authorization);
  const caller = await admit(parts, request, { scope: match.scope, credentials }).catch(async (refusal: unknown) => {
    await refuseTokenOfStranger(parts, { request, response, match });
    throw refusal;
  });
  const begins = route.method !== 'GET' || route.answers[200] === 'event-stream';
  if (parts.isDraining() && begins) throw new SvcError('draining', 'the host is stopping');
  const isOurs = isApi(route);
  if (isOurs) checkQuery(passed.target.query, route.query ?? {});
  const { value, bytes } = await readContent(parts, { request, response, match }, caller);
  const turn = afterConnections();
  if (turn !== undefined) await turn;
  const exchange: Exchange<undefined> = {
    port,
    files,
    routes: table.routes,
    request,
    response,
    requestId: context.requestId,
    params,
    query: passed.target.query,
    body: value as undefined,
    bytes,
    revision: isOurs ? readRevision(request.headers['if-match'], route) : undefined,
    caller: () => callerOf(caller),
    isTokenOurs: () => caller !== undefined || parts.authenticator.knows(credentials, port.settings().tokens),
    keep: keepNone,
  };
  const position = isOurs && route.method === 'GET' ? positionHeaders(parts) : undefined;
  if (route.answers[200] === 'event-stream') prepareStream(response, position ?? {}, context.requestId);
  context.entered = true;
  const handled = route.changes === true ? await change(parts, exchange, route) : await route.handle(exchange);
  return position === undefined || handled === 'taken'
    ? handled
    : { ...handled, headers: { ...position, ...handled.headers } };
}

/** Runs a change under its Idempotency-Key. Handlers of changes never take over the response. */
async function change({ port }: AppParts, exchange: Exchange<undefined>, route: Route): Promise<Answer> {
  const { request, bytes } = exchange;
  const header = request.headers['idempotency-key'];
  const keyed = {
    key: Array.isArray(header) ? header.join(', ') : header,
    actor: exchange.caller().actor,
    route: `${request.method} ${request.url}`,
    bytes,
  };
  return runOnce(port.idempotency, keyed, async (keep) => {
    requireRevision(exchange.revision, route, port);
    const handled = await route.handle({ ...exchange, keep });
    if (handled === 'taken') throw new Error('a change must answer');
    return handled;
  });
}

/** The event position, read before the data. No header if there is no event history. */
function positionHeaders({ port, log }: AppParts): Readonly<Record<string, string>> {
  try {
    const position = port.events.position();
    return position === '' ? {} : { 'Svc-Event-Position': position };
  } catch (error) {
    log.debug({ err: error }, 'no event position for an answer');
    return {};
  }
}

function callerOf(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new Error('a route without scope has no caller');
  return caller;
}

function report(log: HttpLog, error: unknown, request: IncomingMessage): void {
  const { requestId, match } = contextOf(request);
  const fields = { requestId, route: match?.route.path, err: error };
  if (error instanceof SvcError && error.status < 500) log.debug(fields, 'request refused');
  else if (error instanceof SvcError && error.code === 'platform_refused')
    log.warn({ requestId, route: fields.route, error: error.message }, 'the platform refused a request'); // no fault of ours: no stack
  else if (error instanceof SvcError && error.status === 503) log.warn(fields, 'request not served');
  else log.error(fields, 'request failed');
}

function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
}
