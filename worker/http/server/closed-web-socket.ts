// Completes a WebSocket handshake only to close the connection with a code and a reason.
// Browsers hide the HTTP status of a refused handshake from a page. A close frame is the one refusal that the page can read.
// Bytes of the client are discarded unread, so a stranger costs no more than a refused request.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { contextOf } from '../request/request-context.ts';

export interface Closing {
  /** The subprotocol that the handshake echoes. */
  readonly protocol: string;
  readonly code: number;
  /** At most 123 bytes of UTF-8 (RFC 6455, 5.5). */
  readonly reason: string;
}

/** The GUID of RFC 6455, 1.3. */
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const CLOSE_FRAME = 0x88;
/** Time in which the client may read the close frame and close its side. */
const LINGER_MS = 1_000;

/** Answers a handshake whose headers were checked before. */
export function closeWebSocket(request: IncomingMessage, socket: Duplex, { protocol, code, reason }: Closing): void {
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${KEY_SUFFIX}`).digest('base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    `Sec-WebSocket-Protocol: ${protocol}`,
    `X-Request-Id: ${contextOf(request).requestId}`,
  ];
  const text = Buffer.from(reason);
  const frame = Buffer.from([CLOSE_FRAME, text.length + 2, code >> 8, code & 0xff]);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume(); // unread bytes would make the kernel reset the connection before the client reads the frame
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), frame, text]));
}
