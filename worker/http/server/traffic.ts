// Connects the server's events (requests, expectations, upgrades) to their handlers and orders when each begins.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { clientOf, isLoopback } from '../../../shared/ip-address.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { respondProblem } from '../answer/respond.ts';
import type { HostApi } from '../api/host-api.ts';
import { isHeld } from '../express-classes.ts';
import { readCredentials } from '../request/authenticate.ts';
import type { ClientAddresses } from '../request/client-address.ts';
import type { GateParts } from '../request/gate.ts';
import { contextOf } from '../request/request-context.ts';
import { ConnectionFaults } from './connection-faults.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { HeldRequests } from './held-requests.ts';
import type { LateExpress } from './late-express.ts';
import { isClosing, passOver } from './lingering-close.ts';
import type { OpenAnswers } from './open-answers.ts';
import { answerProbe } from './probes.ts';
import { type RequestClass, RequestTurns } from './request-turns.ts';
import { passesStart, type StartGate } from './start-gate.ts';
import { serveUpgrade } from './upgrade.ts';

export interface TrafficParts extends GateParts {
  readonly server: Server;
  readonly express: LateExpress;
  readonly addresses: ClientAddresses;
  readonly answers: OpenAnswers;
  readonly gate: StartGate;
  readonly isDraining: () => boolean;
  newResponse(request: IncomingMessage): ServerResponse;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Returns the turns in which requests begin. */
export function attachTraffic(parts: TrafficParts, limits: ConnectionLimits): RequestTurns {
  const { server, port, addresses, answers } = parts;
  const turns = new RequestTurns();
  const faults = new ConnectionFaults(server, {
    open: answers,
    refused: (status, socket) => observeRefused(port, status, addressOf(socket as Socket)),
    later: (run, socket) => turns.later(run, { of: 'other', lane: socket }),
  });
  const held = new HeldRequests((socket, kept) =>
    turns.later(() => readOn(server, socket, kept), { of: 'other', lane: socket }),
  );
  const serve = requestListener(parts, limits, turns);
  server.on('request', serve);
  server.on('checkContinue', (request, response) => {
    contextOf(request).awaitsContinue = true;
    serve(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    if (isClosing(request.socket)) return passOver(request);
    respondProblem(request, response, new SvcError('expectation_failed', 'the only expectation met is 100-continue'));
  });
  server.on('upgrade', (request, socket, head) => {
    if (isClosing(socket)) return passOver(socket);
    const earlier = faults.earlierAnswers(socket);
    if (isHeld(request) && earlier !== undefined) {
      if (!held.hold({ request, socket, head, earlier })) observeRefused(port, UNANSWERED, addressOf(socket as Socket));
      return;
    }
    limits.busy(socket);
    contextOf(request).address = addresses.of(request, port.settings().trustedProxies);
    const onAnswered: Handle = (asked, response) => observeRequest(port, asked, response);
    void serveUpgrade({ ...parts, onAnswered }, { request, socket, head, earlier }); // never throws
  });
  return turns;
}

/** Hands the socket to a new parser, which reads the kept bytes first. */
function readOn(server: Server, socket: Duplex, kept: readonly Buffer[]): void {
  if (isClosing(socket)) return passOver(socket);
  if (!socket.writable) return; // the last answer closed the connection
  server.emit('connection', socket);
  for (const bytes of kept) socket.emit('data', bytes);
}

/** Probes are answered at once. All other requests begin in their turn, once the host is up. */
function requestListener(parts: TrafficParts, limits: ConnectionLimits, turns: RequestTurns): Handle {
  const { port, express, answers, gate, isDraining } = parts;
  const begin: Handle = (request, response) => {
    const serve = (app: Express): void => app(request as Parameters<Express>[0], response as Parameters<Express>[1]);
    if (express.app !== undefined) return serve(express.app);
    express.load().then(serve, (error: unknown) => respondProblem(request, response, error));
  };
  return (request, response) => {
    const { socket } = request;
    if (isClosing(socket)) return passOver(request);
    answers.begin(socket, response);
    if (answerProbe({ port, request, response, isDraining: isDraining() })) return;
    if (!enter(parts, limits, { request, response })) return;
    const later = (): void =>
      turns.later(() => !response.destroyed && begin(request, response), placeOf(parts, request));
    if (!gate.isOpen && !passesStart(request, port.settings().base)) {
      const refuse = (error: Error): void => {
        contextOf(request).notStarted = error;
      };
      return void gate.pass().catch(refuse).then(later);
    }
    const isBehind = answers.count(socket) > 1;
    if (!isBehind && turns.isFree(contextOf(request).startedAt)) return begin(request, response);
    later();
  };
}

/** Counts the request for its client until its end. False if it was refused. */
function enter(
  { port, addresses }: TrafficParts,
  limits: ConnectionLimits,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): boolean {
  const context = contextOf(request);
  context.address = addresses.of(request, port.settings().trustedProxies);
  const leave = limits.enter(context.address, addressOf(request.socket));
  response.once('close', () => {
    leave?.();
    observeRequest(port, request, response);
  });
  if (leave !== undefined) return true;
  const error = new SvcError('too_many_requests', 'too many requests of this address are under way');
  respondProblem(request, response, error);
  return false;
}

/** The queue lane of a request: one per client address, on loopback one per connection. */
function placeOf(
  { port, authenticator }: TrafficParts,
  request: IncomingMessage,
): { readonly of: RequestClass; readonly lane: unknown } {
  const { address } = contextOf(request);
  const credentials = readCredentials(request.headers.authorization);
  const of = authenticator.knows(credentials, port.settings().tokens)
    ? 'operator'
    : isDelivery(request, port)
      ? 'delivery'
      : 'other';
  return { of, lane: isLoopback(address) ? request.socket : clientOf(address) };
}

/** Deliveries of platforms come in floods: they wait in turns of their own. */
const isDelivery = ({ url = '' }: IncomingMessage, port: HostApi): boolean =>
  url.startsWith('/webhooks/', port.settings().base.length);

const addressOf = ({ remoteAddress = '' }: Socket): string => remoteAddress;

/** Statuses used in logs, from nginx: 499 = the client closed first, 444 = closed without an answer. */
const CLIENT_GONE = 499;
export const UNANSWERED = 444;

function observeRequest(port: HostApi, request: IncomingMessage, response: ServerResponse): void {
  const { requestId, startedAt, takenAt, address, match, entered, faultStatus, hasWrongToken } = contextOf(request);
  const statusCode = faultStatus ?? (response.headersSent ? response.statusCode : CLIENT_GONE);
  port.observe({
    kind: hasWrongToken ? 'auth_failed' : !entered && statusCode >= 400 ? 'refused' : 'request',
    route: match?.route.path ?? 'none',
    status: statusCode,
    ms: (takenAt ?? performance.now()) - startedAt,
    requestId,
    address,
  });
}

export const observeRefused = (port: HostApi, status: number, address: string): void =>
  port.observe({ kind: 'refused', route: 'none', status, ms: 0, requestId: '', address });
