// The HTTP interface of a host: one node:http server. Code in this folder reaches the host only through HostApi.
//
//   HTTP-1  Health and readiness are answered before Express, cheaply and in any state of the host. Deliveries of platforms skip Express
//           but pass the same checks.
//   HTTP-2  Slow headers, slow bodies and silent sockets end with 408 within their limit and a second. Long answers are not cut.
//   HTTP-3  A drain accepts nothing new, tells the streams and waits for running requests up to its limit. Then everything is closed.
//           WebSockets of platforms stay open until their accounts end.
//
// traffic.ts schedules requests, target.ts and gate.ts check them, route-table.ts finds the route and express-app.ts runs it.
import { createServer, type Server, type ServerOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../../../shared/process/bound-socket.ts';
import { within } from '../../../shared/time/abort.ts';
import { StaticFiles } from '../answer/static-files.ts';
import type { HostApi } from '../api/host-api.ts';
import { createExpressApp, serveRequest } from '../express-app.ts';
import { expressClasses } from '../express-classes.ts';
import type { HttpLog } from '../log.ts';
import { Authenticator } from '../request/authenticate.ts';
import { ClientAddresses } from '../request/client-address.ts';
import { FailureBudget, type FailureBudgetOptions } from '../request/failure-budget.ts';
import { BodyValidators } from '../request/json-body.ts';
import { ROUTES, RouteTable } from '../routes/route-table.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { ListenPoint, type ListenTarget } from './listen-point.ts';
import { OpenAnswers } from './open-answers.ts';
import { attachTraffic, observeRefused, type TrafficParts, UNANSWERED } from './traffic.ts';

export interface HttpServerOptions {
  readonly port: HostApi;
  readonly log: HttpLog;
  /** Folder of the chat page, read at its first request. Without it there is no page. */
  readonly staticDir?: string;
  readonly listen: ListenTarget;
  /** Time limits. Defaults are in `HttpTimeouts`. */
  readonly timeouts?: Partial<HttpTimeouts>;
  /** Limit of wrong tokens per source. */
  readonly failures?: FailureBudgetOptions;
}

export interface HttpTimeouts {
  /** Limit for a complete header section. Default 10,000. */
  readonly headersMs: number;
  /** Limit for a complete request. Default 30,000. */
  readonly requestMs: number;
  /** Interval in which both limits are checked. Default 500, so that 408 comes within a second of the limit. */
  readonly checkMs: number;
  /** How long an idle connection stays open; longer than a proxy's usual 60 s. Default 65,000. */
  readonly keepAliveMs: number;
  /** Limit for a connection without traffic, even during an answer: a client that never reads. Default 120,000. */
  readonly idleMs: number;
}

export interface HttpServer {
  readonly server: Server;
  /** Binds an own address without listening. Throws `listen_failed`. */
  bind(): Promise<void>;
  /** Resolves with the address once the server listens. Throws `listen_failed`. */
  listen(): Promise<Address>;
  /** Ends streams whose token was removed or replaced. Call it after each reload. */
  tokensChanged(): void;
  /**
   * Accepts no more connections. If an owner holds the socket, new ones wait for the next worker; otherwise they are refused.
   * Resolves once the connections just accepted have sent a request, or after 50 ms.
   */
  stopListening(): Promise<void>;
  /** Drains within `limitMs` (default 5,000): accepts nothing new and waits for running requests. Coalesced. */
  drain(limitMs?: number): Promise<void>;
  /** Ends every connection and the server. */
  close(): Promise<void>;
}

const TIMEOUTS: HttpTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 500,
  keepAliveMs: 65_000,
  idleMs: 120_000,
};
const HEADER_SECTION_BYTES = 16 * 1024;
const IDLE_CHECK_MS = 100;
/** How long a fresh connection may take to send its request. */
const FIRST_WORDS_MS = 50;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { port } = options;
  const budget = new FailureBudget(options.failures);
  const authenticator = new Authenticator(budget);
  authenticator.validActors(port.settings().tokens);
  let draining: Promise<void> | undefined;
  const parts = createParts(options, { authenticator, isDraining: () => draining !== undefined });
  const { server } = parts;
  const limits = new ConnectionLimits(server, {
    addresses: parts.addresses,
    answers: parts.answers,
    settings: () => port.settings(),
    onRefused: (address) => observeRefused(port, UNANSWERED, address),
  });
  attachTraffic(parts, limits);
  const point = new ListenPoint(options.listen, (message) => options.log.warn({}, message));
  return {
    server,
    bind: () => point.bind(),
    listen: () => point.listen(server),
    tokensChanged: () => port.events.closeRevoked(authenticator.validActors(port.settings().tokens)),
    stopListening: async () => {
      server.close();
      const endsAt = performance.now() + FIRST_WORDS_MS;
      while (limits.silent > 0 && performance.now() < endsAt) await sleep(1);
    },
    drain: (limitMs = 5_000) => {
      draining ??= drain(server, port, limitMs);
      return draining;
    },
    close: async () => {
      budget.close();
      point.close();
      await closeServer(server, () => limits.destroyAll());
    },
  };
}

function createParts(
  { port, log, staticDir, timeouts }: HttpServerOptions,
  given: Pick<TrafficParts, 'authenticator' | 'isDraining'>,
): TrafficParts {
  const gate = { port, files: new StaticFiles(staticDir), table: new RouteTable(ROUTES), ...given };
  const appParts = { ...gate, validators: new BodyValidators(), log };
  const app = createExpressApp(appParts);
  const answers = new OpenAnswers();
  const { Request, Response } = expressClasses(app, (socket) => answers.isFull(socket));
  const server = createServer({ IncomingMessage: Request, ServerResponse: Response, ...serverOptions(timeouts) });
  // Node silently drops headers above maxHeadersCount. 0 turns that off: findHeadFault refuses too many with 431.
  server.maxHeadersCount = 0;
  server.timeout = timeouts?.idleMs ?? TIMEOUTS.idleMs;
  return {
    ...gate,
    app,
    server,
    answers,
    addresses: new ClientAddresses(app, log),
    serve: (request, response) => void serveRequest(appParts, request, response), // never rejects
    newResponse: (request) => new Response(request),
  };
}

function serverOptions(given: Partial<HttpTimeouts> = {}): ServerOptions {
  const { headersMs, requestMs, checkMs, keepAliveMs } = { ...TIMEOUTS, ...given };
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: HEADER_SECTION_BYTES,
    noDelay: true,
    insecureHTTPParser: false,
    requireHostHeader: false, // findHeadFault checks the Host header and answers with a problem document
  };
}

async function drain(server: Server, port: HostApi, limitMs: number): Promise<void> {
  let end = (): void => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
    server.close(() => resolve());
  });
  const idle = setInterval(() => {
    server.closeIdleConnections();
    server.getConnections((error, count) => error === null && count <= port.deliveries.sockets.count && end());
  }, IDLE_CHECK_MS);
  try {
    await within(Promise.all([port.events.drain(), closed]), { ms: limitMs, late: undefined });
  } finally {
    clearInterval(idle);
  }
}

async function closeServer(server: Server, destroyAll: () => void): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  destroyAll();
  await closed;
}
