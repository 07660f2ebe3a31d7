// The end of a connection whose client may still send when it was answered: a body that is too large, or of somebody who is not let in.
//
//   L1  The answer goes out at once, and the end of this side behind it, so that the client need not know when to read. Closing at once would
//       reset a connection on which something lies unread, and the reset overtakes the answer.
//   L2  What still comes is thrown away until the client closes too: at most 128 MiB, for at most 30 s, 5 s of silence. Until then the
//       connection counts as one.
//   L3  None of it is a request any more: where the body was not read, nobody is to say where the next one begins.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const MOST_BYTES = 128 * 1024 * 1024;
const CHECK_MS = 1_000;
/** In checks: time in which the machine stands still is nobody's silence. */
const MOST_CHECKS = 30;
const MOST_SILENT_CHECKS = 5;

const closing = new WeakSet<Duplex>();

/** L3: whatever is parsed on this connection is to be left alone. */
export const isClosing = (socket: Duplex): boolean => closing.has(socket);

/** A request, or an upgrade, behind the last one that is answered (L3): its bytes are thrown away like all others. */
export function passOver(message: IncomingMessage | Duplex): void {
  message.resume();
}

/** To be called when all of the answer was written, which is not to be ended: that would close the connection. */
export function closeLingering(request: IncomingMessage, response: ServerResponse): void {
  closing.add(request.socket);
  // It may have to wait for the answers to earlier requests: only then is the connection its own.
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
  socket.on('error', () => {}); // after an upgrade that was passed over nobody else would hear it
  request.on('data', () => {
    if (socket.bytesRead > mostBytes) socket.destroy();
  });
  request.resume();
  socket.end();
}
