// Closes a connection after its answer, while its client may still be sending. An example is a body that is too large or unauthorized.
//
//   LINGER-1  The answer and the FIN go out at once. Closing the socket with unread bytes would send a reset, which can overtake the
//             answer.
//   LINGER-2  Further bytes are discarded until the client closes. The limits are 128 MiB, 30 s, and 5 s of silence. The connection counts
//             until then.
//   LINGER-3  No further bytes are parsed as a request, because the end of an unread body is unknown.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const MOST_BYTES = 128 * 1024 * 1024;
const CHECK_MS = 1_000;
/** Limits are counted in checks, so time in which the machine sleeps does not count as the client's silence. */
const MOST_CHECKS = 30;
const MOST_SILENT_CHECKS = 5;

const closing = new WeakSet<Duplex>();

/** True if everything that is parsed on this connection must be ignored. */
export const isClosing = (socket: Duplex): boolean => closing.has(socket);

/** Discards the bytes of a request or an upgrade that follows the last answered request. */
export function passOver(message: IncomingMessage | Duplex): void {
  message.resume();
}

/** Call it when the whole answer is written. The caller must not end the answer, because that would close the connection. */
export function closeLingering(request: IncomingMessage, response: ServerResponse): void {
  closing.add(request.socket);
  // A queued answer gets its socket only after the answers to earlier requests.
  if (response.socket === null) response.once('socket', () => process.nextTick(begin, request));
  else begin(request);
}

function begin(request: IncomingMessage): void {
  const { socket } = request;
  if (socket.destroyed) return;
  const mostBytes = socket.bytesRead + MOST_BYTES;
  let bytesRead = -1;
  let checks = 0;
  let silentChecks = 0;
  const timer = setInterval(() => {
    checks += 1;
    silentChecks = socket.bytesRead === bytesRead ? silentChecks + 1 : 0;
    bytesRead = socket.bytesRead;
    if (checks >= MOST_CHECKS || silentChecks >= MOST_SILENT_CHECKS || bytesRead > mostBytes) socket.destroy();
  }, CHECK_MS);
  socket.once('close', () => clearInterval(timer));
  socket.on('error', () => {}); // an ignored upgrade leaves the socket without another listener
  request.on('data', () => {
    if (socket.bytesRead > mostBytes) socket.destroy();
  });
  request.resume();
  socket.end();
}
