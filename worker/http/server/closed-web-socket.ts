// A WebSocket that is opened only to be closed: the one refusal that a page in a browser gets to read, since it is shown no status of a handshake.
// Nothing of the other side is read, so that no stranger costs more than a refused request does.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { contextOf } from '../request/request-context.ts';

export interface Closing {
  /** The one that is echoed. */
  readonly protocol: string;
  readonly code: number;
  /** At most 123 bytes. */
  readonly reason: string;
}

/** Of RFC 6455, 1.3. */
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const CLOSE_FRAME = 0x88;
/** Time for the other side to read it and to close, too. */
const LINGER_MS = 1_000;

/** Answers a handshake that was found good in form. */
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
  socket.resume(); // thrown away: what lies unread would have the connection reset before the frame is read
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), frame, text]));
}
