// WebSocket upgrades: of clients at `/api/ws` after checks of origin, token and limits, and of platforms at an account's address.
// Refusals are HTTP answers. A browser's page cannot see a status, so an unknown token from a browser is refused with a close frame.
// An Upgrade header on any other request is ignored (RFC 9110, 7.8). Java's client offers HTTP/2 with its first request.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ERRORS } from '../../../shared/error-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { respondProblem } from '../answer/respond.ts';
import type { Caller } from '../api/caller.ts';
import { type Credentials, readCredentials, readToken } from '../request/authenticate.ts';
import { isAllowedOrigin } from '../request/cors.ts';
import { deliveryOf } from '../request/delivery.ts';
import { admit, findRoute, type GateParts, type Passed } from '../request/gate.ts';
import { checkQuery } from '../request/query-check.ts';
import { contextOf } from '../request/request-context.ts';
import { hasContent } from '../request/request-head.ts';
import { checkStreamLimit } from '../routes/events.ts';
import type { Match } from '../routes/route.ts';
import { WEBHOOK_PATH } from '../routes/webhooks.ts';
import { closeWebSocket } from './closed-web-socket.ts';
import type { StartGate } from './start-gate.ts';

export const WEBSOCKET_PROTOCOL = 'svc.v1';
const BEARER_PROTOCOL = 'svc.bearer.';

export interface UpgradeParts extends GateParts {
  readonly server: Server;
  readonly gate: StartGate;
  readonly isDraining: () => boolean;
  newResponse(request: IncomingMessage): ServerResponse;
  /** An upgrade was refused with this response. */
  onAnswered(request: IncomingMessage, response: ServerResponse): void;
}

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Resolves when earlier requests of the connection are answered. Left out if there are none. */
  readonly earlier?: Promise<void> | undefined;
}

/** Without a listener, an error of the socket would end the process. The socket closes by itself. */
const ignore = (): void => {};

/** Takes over the socket of an upgrade. Never throws. */
export async function serveUpgrade(parts: UpgradeParts, { request, socket, head, earlier }: Upgrade): Promise<void> {
  socket.on('error', ignore);
  if (earlier !== undefined) await earlier;
  if (socket.destroyed) return;
  try {
    if (!parts.gate.isOpen) {
      if (!isWebSocket(request)) return serveAsRequest(parts, { request, socket, head }); // it waits there
      await parts.gate.pass();
      if (socket.destroyed) return;
    }
    // The first upgrade loads it. What is checked below then still holds at the handshake.
    if (isWebSocket(request)) await import('ws');
    if (socket.destroyed) return;
    const passed = findRoute(parts, request);
    const match = webSocketMatch(request, passed);
    if (match === undefined) return serveAsRequest(parts, { request, socket, head });
    contextOf(request).match = match;
    checkHandshake(request);
    if (match.route.path === WEBHOOK_PATH) {
      const complete = admitPlatform(parts, request, { passed, match });
      return await complete(request, socket, head);
    }
    const caller = await admitWebSocket(parts, request, { passed, match });
    if (!socket.writable) return;
    if (caller === 'unknown') return closeUnknown(parts, request, socket);
    await parts.port.events.upgrade(request, socket, head, caller);
  } catch (error) {
    const response = attach(parts, request, socket);
    if (response === undefined) return;
    response.once('close', () => parts.onAnswered(request, response));
    respondProblem(request, response, error);
  }
}

function webSocketMatch(request: IncomingMessage, { found }: Passed): Match | undefined {
  return isWebSocket(request) && found.kind === 'match' && found.match.route.answers[101] === 'websocket'
    ? found.match
    : undefined;
}

/** RFC 9110, 7.8: HTTP/1.0 has no upgrades. */
const isWebSocket = ({ method, headers, httpVersion }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket' && method === 'GET' && httpVersion === '1.1';

/** Base64 of 16 bytes (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
/** Some old clients speak draft version 8, whose frames are those of 13. */
const VERSIONS: ReadonlySet<unknown> = new Set(['13', '8']);

/** Checked here because the ws library would read a body as frames and refuse faults with its own HTML. */
function checkHandshake(request: IncomingMessage): void {
  const { headers } = request;
  if (hasContent(request)) throw new SvcError('invalid_request', 'an upgrade is not taken with a body');
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw new SvcError('invalid_request', 'the header Sec-WebSocket-Key is missing or malformed');
  if (!VERSIONS.has(headers['sec-websocket-version']))
    throw new SvcError('upgrade_required', 'this version of WebSocket is not spoken here', {
      hint: 'Send Sec-WebSocket-Version: 13.',
    });
}

/** Returns the function that completes the handshake. Throws the error that the platform reads. */
function admitPlatform(
  { port, authenticator, isDraining }: UpgradeParts,
  request: IncomingMessage,
  { passed, match }: { readonly passed: Passed; readonly match: Match },
): ReturnType<GateParts['port']['deliveries']['sockets']['open']> {
  contextOf(request).entered = true;
  const { query } = passed.target;
  const isTokenOurs = (): boolean =>
    authenticator.knows(readCredentials(request.headers.authorization), port.settings().tokens);
  const delivery = deliveryOf({ request, query, bytes: Buffer.alloc(0), isTokenOurs }, match.params.path ?? '');
  const complete = port.deliveries.sockets.open(delivery);
  if (isDraining()) throw new SvcError('draining', 'the host is stopping');
  return complete;
}

async function admitWebSocket(
  parts: UpgradeParts,
  request: IncomingMessage,
  { passed, match }: { readonly passed: Passed; readonly match: Match },
): Promise<Caller | 'unknown'> {
  const { port } = parts;
  const credentials = readWebSocketCredentials(request);
  if (!isAllowedOrigin(request, port.settings())) {
    throw new SvcError('forbidden_origin', 'this origin may not open a WebSocket', {
      hint: 'List it in http.corsOrigins.',
    });
  }
  const caller = await admit(parts, request, { scope: match.scope, credentials }).catch(
    (refusal: unknown): 'unknown' => {
      if (offersBearer(request) && refusal instanceof SvcError && refusal.code === 'invalid_token') return 'unknown';
      throw refusal;
    },
  );
  if (caller === undefined) throw new Error('a WebSocket without a caller');
  if (caller === 'unknown') return caller;
  checkQuery(passed.target.query, match.route.query ?? {});
  if (parts.isDraining()) throw new SvcError('draining', 'the host is stopping');
  checkStreamLimit(port, caller);
  return caller;
}

/** Only browsers send the token as a subprotocol, and their pages cannot see a 401. So a browser gets close code 1008, counted as a 401. */
function closeUnknown({ newResponse, onAnswered }: UpgradeParts, request: IncomingMessage, socket: Duplex): void {
  contextOf(request).faultStatus = ERRORS.invalid_token.status;
  closeWebSocket(request, socket, { protocol: WEBSOCKET_PROTOCOL, code: 1008, reason: 'this token is not known' });
  onAnswered(request, newResponse(request));
}

/** Reads the Authorization header, or the token in a browser's pair of subprotocols. A request with both tokens is malformed. */
export function readWebSocketCredentials(request: IncomingMessage): Credentials {
  const fromHeader = readCredentials(request.headers.authorization);
  const protocols = protocolsOf(request);
  if (protocols === undefined) return fromHeader;
  const bearers = protocols.filter((name) => name.startsWith(BEARER_PROTOCOL));
  const isPair =
    protocols.filter((name) => name === WEBSOCKET_PROTOCOL).length === 1 && bearers.length + 1 === protocols.length;
  if (!isPair || bearers.length > 1) {
    throw new SvcError('invalid_request', 'the subprotocols are not the ones spoken here', {
      hint: `Offer ${WEBSOCKET_PROTOCOL}, and ${BEARER_PROTOCOL} followed by the token in base64url.`,
    });
  }
  const [bearer] = bearers;
  if (bearer === undefined) return fromHeader;
  if (fromHeader.kind !== 'absent') return { kind: 'malformed' };
  return readBase64Url(bearer.slice(BEARER_PROTOCOL.length));
}

const protocolsOf = ({ headers }: IncomingMessage): readonly string[] | undefined =>
  headers['sec-websocket-protocol']?.split(',').map((name) => name.trim());

const offersBearer = (request: IncomingMessage): boolean =>
  protocolsOf(request)?.some((name) => name.startsWith(BEARER_PROTOCOL)) === true;

function readBase64Url(text: string): Credentials {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? readToken(bytes.toString('latin1')) : { kind: 'malformed' };
}

/**
 * Serves an offered upgrade as a plain request, without the headers that offer it.
 * Node has detached the parser from the socket and does not parse a body after an upgrade. So the head and the bytes behind it go to a new
 * parser.
 */
function serveAsRequest(parts: UpgradeParts, { request, socket, head }: Upgrade): void {
  const response = attach(parts, request, socket);
  if (response === undefined) return;
  response.detachSocket(socket as Socket);
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = rawHeaders.flatMap((name, at) => {
    if (at % 2 === 1 || OFFER.has(name.toLowerCase())) return [];
    const value = rawHeaders[at + 1] ?? '';
    return [`${name}: ${name.toLowerCase() === 'connection' ? withoutOffer(value) : value}\r\n`];
  });
  const start = `${method} ${url} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`;
  socket.unshift(Buffer.concat([Buffer.from(start, 'latin1'), head]));
  parts.server.emit('connection', socket);
}

const OFFER = new Set(['upgrade', 'http2-settings']);
const withoutOffer = (connection: string): string =>
  connection
    .split(',')
    .filter((option) => !OFFER.has(option.trim().toLowerCase()))
    .join(',')
    .trim();

/** Makes a response on a socket without a parser. The connection ends with the response. */
function attach(parts: UpgradeParts, request: IncomingMessage, socket: Duplex): ServerResponse | undefined {
  const response = parts.newResponse(request);
  response.shouldKeepAlive = false;
  response.once('finish', () => socket.end());
  try {
    response.assignSocket(socket as Socket);
    return response;
  } catch {
    socket.destroy(); // an earlier answer still uses the socket: the client did not wait for it
    return undefined;
  }
}
