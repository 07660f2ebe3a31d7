// A socket that is bound and not listened on: nobody else gets the address, and nobody is let in yet. The one file that touches Node's private API.
import net from 'node:net';
import { getSystemErrorName } from 'node:util';

export interface Address {
  /** An IP literal. */
  readonly host: string;
  readonly port: number;
}

/** What `server.listen` takes. */
export interface BoundHandle {
  /** None on Windows. */
  readonly fd?: number;
  getsockname(address: Record<string, unknown>): number;
  close(): void;
}

type CreateHandle = (
  ...of: [host: string, port: number, family: 4 | 6] | [host: null, port: null, family: null, fd: number]
) => BoundHandle | number;

/** Whether this Node can bind without listening. */
export const canBind = (): boolean => createHandle() !== undefined;

/** The socket, or the code of the error; `ENOTSUP` where this Node cannot. */
export function bindSocket({ host, port }: Address): BoundHandle | string {
  const create = createHandle();
  if (create === undefined) return 'ENOTSUP';
  // Not isIPv6: it compiles a pattern that is 5 ms of a start, and isIP comes to that last.
  const handle = create(host, port, net.isIP(host) === 6 ? 6 : 4);
  if (typeof handle === 'number') return getSystemErrorName(handle);
  const late = handle.getsockname({}); // an address in use is told here, not by the bind
  if (late === 0) return handle;
  handle.close();
  return getSystemErrorName(late);
}

/** The socket of a descriptor that came with the process, where it is one for TCP; a Node that cannot tell takes what it is given. */
export function adoptSocket(fd: number): BoundHandle | { readonly fd: number } | undefined {
  const create = createHandle();
  if (create === undefined) return { fd };
  const handle = create(null, null, null, fd);
  if (typeof handle === 'number') return undefined; // of datagrams
  if ('getsockname' in handle) return handle;
  (handle as BoundHandle).close(); // of the Unix kind
  return undefined;
}

function createHandle(): CreateHandle | undefined {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  return typeof create === 'function' ? (create as CreateHandle) : undefined;
}
