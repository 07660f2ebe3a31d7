// A port of the loopback address that nobody listens on, for a process that has to be told one.
//
// It is below the range from which systems take ports by themselves (32768 and above), so that neither `listen(0)` nor a client's own port takes
// it before that process listens; and each test process has a stretch of its own, so that two of them do not choose alike.
import { createServer } from 'node:net';

const FIRST = 10_000;
const STRETCH = 20;
const STRETCHES = 1_100;

let next = 0;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < STRETCH * STRETCHES; tries += 1) {
    const port = FIRST + (((process.pid % STRETCHES) * STRETCH + next) % (STRETCH * STRETCHES));
    next += 1;
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
