// A socket that is bound but does not listen: the address is reserved and no connection is accepted. The only use of Node's private API.
import net from 'node:net';
import { getSystemErrorName } from 'node:util';

export interface Address {
  /** An IP literal. */
  readonly host: string;
  readonly port: number;
}

/** A handle that `server.listen` accepts. */
export interface BoundHandle {
  /** Missing on Windows. */
  readonly fd?: number;
  getsockname(address: Record<string, unknown>): number;
  close(): void;
}

type CreateHandle = (
  ...of: [host: string, port: number, family: 4 | 6] | [host: null, port: null, family: null, fd: number]
) => BoundHandle | number;

/** Whether this Node can bind without listening. */
export const canBind = (): boolean => createHandle() !== undefined;

/** Returns the socket or an error code. `ENOTSUP` if this Node cannot bind without listening. */
export function bindSocket({ host, port }: Address): BoundHandle | string {
  const create = createHandle();
  if (create === undefined) return 'ENOTSUP';
  // isIPv6 compiles a pattern, which takes 5 ms of a start. isIP tests IPv6 last and avoids it here.
  const handle = create(host, port, net.isIP(host) === 6 ? 6 : 4);
  if (typeof handle === 'number') return getSystemErrorName(handle);
  const late = handle.getsockname({}); // an address in use is reported here, not by the bind
  if (late === 0) return handle;
  handle.close();
  return getSystemErrorName(late);
}

/** A socket inherited as a file descriptor. Undefined if it is no TCP socket. A Node that cannot check accepts any descriptor. */
export function adoptSocket(fd: number): BoundHandle | { readonly fd: number } | undefined {
  const create = createHandle();
  if (create === undefined) return { fd };
  const handle = create(null, null, null, fd);
  if (typeof handle === 'number') return undefined; // a UDP socket
  if ('getsockname' in handle) return handle;
  (handle as BoundHandle).close(); // a Unix socket
  return undefined;
}

function createHandle(): CreateHandle | undefined {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  return typeof create === 'function' ? (create as CreateHandle) : undefined;
}
