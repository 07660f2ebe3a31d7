// A listening socket inherited from the owner, by systemd's LISTEN_FDS protocol (sd_listen_fds(3)). Other owners use it too.
//
//   INHERIT-1  The variables are valid only for the process named in LISTEN_PID. A child that inherits the environment gets no socket.
//   INHERIT-2  Uses the TCP socket named `http` in LISTEN_FDNAMES, otherwise the first TCP socket. Sockets without any for TCP end the
//              start.
//   INHERIT-3  launchd passes sockets through a C library call that Node cannot make. There the worker binds by itself.
import { fstatSync } from 'node:fs';
import { adoptSocket, type BoundHandle } from '../../shared/process/bound-socket.ts';
import { SvcError } from '../../shared/svc-error.ts';

/** File descriptors 0 to 2 are stdin, stdout and stderr. */
const FIRST_DESCRIPTOR = 3;
const MOST_DESCRIPTORS = 1_024;
const HTTP_NAME = 'http';

/** For `server.listen`. Bound; under systemd listening already. */
export type InheritedSocket = BoundHandle | { readonly fd: number };

/**
 * Undefined if no socket was passed to this process; the worker then binds the configured address.
 * Throws `listen_failed` if sockets were passed and none is for TCP.
 */
export function inheritedSocket(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number = process.pid,
): InheritedSocket | undefined {
  const count = Number(environment['LISTEN_FDS']);
  if (environment['LISTEN_PID'] !== String(pid) || !Number.isInteger(count) || count < 1) return undefined;
  const descriptors = Array.from({ length: Math.min(count, MOST_DESCRIPTORS) }, (_, at) => FIRST_DESCRIPTOR + at);
  const named = descriptors[(environment['LISTEN_FDNAMES'] ?? '').split(':').indexOf(HTTP_NAME)];
  const sockets = (named === undefined ? descriptors : [named]).filter(isSocket);
  for (const fd of sockets) {
    const socket = adoptSocket(fd);
    if (socket !== undefined) return socket;
  }
  if (sockets.length === 0) return undefined;
  const which = named === undefined ? 'none is' : `the one named ${HTTP_NAME} is not`;
  throw new SvcError('listen_failed', `of the sockets that the owner hands down (LISTEN_FDS) ${which} one for TCP`, {
    hint: 'a socket unit needs ListenStream= with an address and a port',
  });
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false; // LISTEN_FDS may count more descriptors than were passed
  }
}
