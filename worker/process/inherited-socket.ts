// The listening socket that an owner has bound and hands down: systemd's LISTEN_FDS (sd_listen_fds(3)), which other inetd-like owners speak too.
//
//   I1  The variables are for the process that LISTEN_PID names: a child that merely inherited them gets none.
//   I2  What is taken is the TCP socket named `http` where LISTEN_FDNAMES names one, else the first there is; sockets, but none for TCP, end the start.
//   I3  launchd hands its sockets over through a call of its own library, which Node cannot make: there the worker binds by itself.
import { fstatSync } from 'node:fs';
import { adoptSocket, type BoundHandle } from '../../shared/process/bound-socket.ts';
import { SvcError } from '../../shared/svc-error.ts';

/** Descriptors start after stdin, stdout and stderr. */
const FIRST_DESCRIPTOR = 3;
const MOST_DESCRIPTORS = 1_024;
const HTTP_NAME = 'http';

/** For `server.listen`. Already bound, and listening under systemd. */
export type InheritedSocket = BoundHandle | { readonly fd: number };

/** Undefined where nothing was handed down to this process; then the worker binds the configured address. Throws `listen_failed` (I2). */
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
    return false; // the variables promise more than was handed down
  }
}
