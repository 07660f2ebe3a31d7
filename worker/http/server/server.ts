// The HTTP interface of a host: one node:http server. This folder sees the host only through HostApi.
//
//   S1  Health and readiness are answered here, before Express: cheap, and whatever state the rest is in. Deliveries of platforms take the
//       way of every request, without Express around it.
//   S2  Slow headers, slow bodies and silent sockets end with 408 within their limit and a second; long answers are not cut.
//   S3  Draining accepts nothing new, tells the streams, waits for what is under way, and is bounded; then all is closed. WebSockets of
//       platforms are left to their accounts, which answer over them until they end.
//
// traffic.ts says when a request begins, target.ts and gate.ts decide about it, route-table.ts says what there is, express-app.ts runs it.
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
  /** Folder of the chat page, read at its first request; left out: no page. */
  readonly staticDir?: string;
  readonly listen: ListenTarget;
  /** Limits of time; left out: those of the documentation. */
  readonly timeouts?: Partial<HttpTimeouts>;
  /** Wrong tokens per source. */
  readonly failures?: FailureBudgetOptions;
}

export interface HttpTimeouts {
  /** Until the header section is complete. Default 10,000. */
  readonly headersMs: number;
  /** Until the whole request is there. Default 30,000. */
  readonly requestMs: number;
  /** How often the two are checked. Default 500: they end within a second of their time, also on a machine that is late. */
  readonly checkMs: number;
  /** An idle connection; longer than a proxy's 60 s. Default 65,000. */
  readonly keepAliveMs: number;
  /** A connection on which nothing moves, whatever is under way: a client that never reads. Default 120,000. */
  readonly idleMs: number;
}

export interface HttpServer {
  readonly server: Server;
  /** Takes an address of its own before it listens; throws `listen_failed`. */
  bind(): Promise<void>;
  /** Resolves once it listens, with the address; throws `listen_failed`. */
  listen(): Promise<Address>;
  /** Ends streams whose token is gone or was replaced: to be called after each reload. */
  tokensChanged(): void;
  /**
   * Takes no more connections: who comes now waits for the next worker where an owner holds the socket, and is refused elsewhere. Resolves once
   * those that were just taken have said what they came for, or nothing for a moment.
   */
  stopListening(): Promise<void>;
  /** S3, within `limitMs` (default 5,000). Coalesced. */
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
/** From the connection to its request, of whoever has both ready. */
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
  // Node drops headers above its own count in silence; with none, request-head.ts sees and refuses them.
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
    requireHostHeader: false, // request-head.ts requires it, with a problem document
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
