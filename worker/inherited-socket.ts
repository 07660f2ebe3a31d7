// The listening socket that an owner has bound and hands down: systemd's LISTEN_FDS (sd_listen_fds(3)), which other inetd-like owners speak too.
//
//   I1  The variables are for the process that LISTEN_PID names: a child that merely inherited them gets none.
//   I2  What is taken is a socket, the one named `http` where LISTEN_FDNAMES names one, else the first.
//   I3  launchd hands its sockets over through a call of its own library, which Node cannot make: there the worker binds by itself.
import { fstatSync } from 'node:fs';

/** Descriptors start after stdin, stdout and stderr. */
const FIRST_DESCRIPTOR = 3;
const HTTP_NAME = 'http';

export interface InheritedSocket {
  /** For `server.listen({ fd })`. Already bound, and listening under systemd. */
  readonly fd: number;
}

/** Undefined where nothing was handed down to this process; then the worker binds the configured address. */
export function inheritedSocket(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number = process.pid,
): InheritedSocket | undefined {
  const count = Number(environment['LISTEN_FDS']);
  if (environment['LISTEN_PID'] !== String(pid) || !Number.isInteger(count) || count < 1) return undefined;
  const named = (environment['LISTEN_FDNAMES'] ?? '').split(':').indexOf(HTTP_NAME);
  const fd = FIRST_DESCRIPTOR + (named > 0 && named < count ? named : 0);
  return isSocket(fd) ? { fd } : undefined;
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false; // the variables promise more than was handed down
  }
}
