// The HTTP interface of a host: one node:http server. Code in this folder reaches the host only through HostApi.
//
//   HTTP-1  Health and readiness are answered before Express, cheaply and in any state of the host. Deliveries of platforms skip Express
//           but pass the same checks.
//   HTTP-2  Slow headers, slow bodies and silent sockets end with 408 within their limit and a second. Long answers are not cut.
//   HTTP-3  A drain begins nothing, tells the streams and waits for running requests up to its limit. Then everything is closed.
//           WebSockets of platforms stay open until their accounts end.
//   HTTP-4  A held socket is closed when a drain begins: new connections wait for the next worker. An own address stays open until the
//           end, and answers 503 `draining` to whatever would begin something.
//   HTTP-5  The server listens before the host is up. start-gate.ts says which requests wait for that. Express is loaded then (late-express.ts).
//
// traffic.ts schedules requests, target.ts and gate.ts check them, route-table.ts finds the route and express-app.ts runs it.
import { createServer, type Server, type ServerOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../../../shared/process/bound-socket.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { within } from '../../../shared/time/abort.ts';
import { StaticFiles } from '../answer/static-files.ts';
import type { HostApi } from '../api/host-api.ts';
import { expressClasses } from '../express-classes.ts';
import type { HttpLog } from '../log.ts';
import { Authenticator } from '../request/authenticate.ts';
import { ClientAddresses } from '../request/client-address.ts';
import { FailureBudget, type FailureBudgetOptions } from '../request/failure-budget.ts';
import { BodyValidators } from '../request/json-body.ts';
import { ROUTES, RouteTable } from '../routes/route-table.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { LateExpress } from './late-express.ts';
import { ListenPoint, type ListenTarget } from './listen-point.ts';
import { OpenAnswers } from './open-answers.ts';
import { StartGate } from './start-gate.ts';
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
  /** Holds requests back until the host is up. Left out: nothing waits. */
  readonly gate?: StartGate;
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
  /** Resolves with the address once the server listens. Throws `listen_failed`. */
  listen(): Promise<Address>;
  /** Loads what answers requests that are no probes; else the first of them does. */
  complete(): Promise<void>;
  /** Ends streams whose token was removed or replaced. Call it after each reload. */
  tokensChanged(): void;
  /**
   * If an owner holds the socket: accepts no more connections, which wait for the next worker. Resolves once the connections just accepted
   * have sent a request, 50 ms at most, and all requests have begun, `limitMs` at most. An own address stays open.
   */
  leaveHeldSocket(limitMs: number): Promise<void>;
  /** From now on whatever would begin something is answered with 503 `draining`, also what waits for the start. */
  beginNothing(): void;
  /** Drains within `limitMs` (default 5,000): begins nothing and waits for running requests. Coalesced. */
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
const RETRY_AFTER_MS = 2_000;
/** How long a fresh connection may take to send its request, and the last answers to go out. */
const FIRST_WORDS_MS = 50;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { port, gate = new StartGate({ isOpen: true }) } = options;
  const budget = new FailureBudget(options.failures);
  const authenticator = new Authenticator(budget);
  authenticator.validActors(port.settings().tokens);
  let beginsNothing = false;
  let draining: Promise<void> | undefined;
  const parts = createParts(options, { authenticator, gate, isDraining: () => beginsNothing });
  const { server, answers } = parts;
  const limits = new ConnectionLimits(server, {
    addresses: parts.addresses,
    answers,
    settings: () => port.settings(),
    onRefused: (address) => observeRefused(port, UNANSWERED, address),
  });
  const turns = attachTraffic(parts, limits);
  const point = new ListenPoint(options.listen, (message) => options.log.warn({}, message));
  /** Waits a moment for the requests of connections that were accepted just now, and for their answers. */
  const settled = async (isUnsettled: () => boolean, limitMs = FIRST_WORDS_MS): Promise<void> => {
    const endsAt = performance.now() + limitMs;
    while (isUnsettled() && performance.now() < endsAt) await sleep(1);
  };
  const beginNothing = (): void => {
    beginsNothing = true;
    gate.refuse(new SvcError('draining', 'the host is stopping', { details: { retryAfterMs: RETRY_AFTER_MS } }));
  };
  return {
    server,
    beginNothing,
    listen: async () => {
      await point.bind();
      if (port.settings().trustedProxies.length > 0) await parts.express.load(); // it says whose address counts
      return point.listen(server);
    },
    complete: async () => {
      await parts.express.load();
    },
    tokensChanged: () => port.events.closeRevoked(authenticator.validActors(port.settings().tokens)),
    leaveHeldSocket: async (limitMs) => {
      if (!point.isHeld) return;
      server.close();
      await settled(() => limits.silent > 0);
      await settled(() => turns.waiting > 0, limitMs);
    },
    drain: (limitMs = 5_000) => {
      beginNothing();
      draining ??= drain(port, point.isHeld ? () => connectionsOver(server, port) : () => answers.over(), limitMs);
      return draining;
    },
    close: async () => {
      budget.close();
      point.close();
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      if (!point.isHeld) await settled(() => limits.silent > 0 || answers.size > 0);
      limits.destroyAll();
      await closed;
    },
  };
}

function createParts(
  { port, log, staticDir, timeouts }: HttpServerOptions,
  given: Pick<TrafficParts, 'authenticator' | 'gate' | 'isDraining'>,
): TrafficParts {
  const gate = { port, files: new StaticFiles(staticDir), table: new RouteTable(ROUTES), ...given };
  const appParts = { ...gate, validators: new BodyValidators(), log };
  const answers = new OpenAnswers();
  const classes = expressClasses((socket) => answers.isFull(socket));
  const express = new LateExpress(appParts, classes);
  const { Request, Response } = classes;
  const server = createServer({ IncomingMessage: Request, ServerResponse: Response, ...serverOptions(timeouts) });
  // Node silently drops headers above maxHeadersCount. 0 turns that off: findHeadFault refuses too many with 431.
  server.maxHeadersCount = 0;
  server.timeout = timeouts?.idleMs ?? TIMEOUTS.idleMs;
  return {
    ...gate,
    express,
    server,
    answers,
    addresses: new ClientAddresses(() => express.app, log),
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

async function drain(port: HostApi, requestsOver: () => Promise<void>, limitMs: number): Promise<void> {
  await within(Promise.all([port.events.drain(), requestsOver()]), { ms: limitMs, late: undefined });
}

/** Accepts no more, and resolves when no connection is left but WebSockets of platforms. */
async function connectionsOver(server: Server, port: HostApi): Promise<void> {
  let idle: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    idle = setInterval(() => {
      server.closeIdleConnections();
      server.getConnections((error, count) => error === null && count <= port.deliveries.sockets.count && resolve());
    }, IDLE_CHECK_MS);
  });
  clearInterval(idle);
}
