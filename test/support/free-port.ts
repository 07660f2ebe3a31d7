// A port of the loopback address that nobody listens on, for a process that has to be told one.
//
// It is below the range from which systems take ports by themselves (32768 and above), so that neither `listen(0)` nor a client's own port takes
// it before that process listens, and none at which fetch refuses to ask. No other test process is given it as long as this one lives: not
// before its program listens, nor while that is restarted.
import { createServer, type Server } from 'node:net';
import { isBlockedPort } from '../../shared/process/blocked-ports.ts';

const FIRST = 10_000;
const STRETCH = 20;
const STRETCHES = 1_100;

/** Sockets without a file, which end with this process: whoever has that of a port has the port. */
const claims: Server[] = [];

export const freePort = portSearch(process.pid);

/** A search as the process of that number makes it. */
export function portSearch(pid: number): () => Promise<number> {
  let next = 0;
  return async () => {
    for (let tries = 0; tries < STRETCH * STRETCHES; tries += 1) {
      const port = FIRST + (((pid % STRETCHES) * STRETCH + next) % (STRETCH * STRETCHES));
      next += 1;
      if (!isBlockedPort(port) && (await isFree(port)) && (await isOurs(port))) return port;
    }
    throw new Error('no port is free');
  };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Linux alone has such sockets; elsewhere the stretches keep processes apart, mostly. */
function isOurs(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (process.platform !== 'linux') return resolve(true);
    const claim = createServer();
    claim.once('error', () => resolve(false));
    claim.listen(`\0svc-test-port-${port}`, () => {
      claims.push(claim.unref());
      resolve(true);
    });
  });
}
