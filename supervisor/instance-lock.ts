// One supervisor a project: a lock that the kernel releases when its holder dies, however it dies; a holder may share it with its successor.
//
// Linux: an abstract Unix socket named by device and inode of `.svc`, so that two names of one folder are one lock. Elsewhere: an open with O_EXLOCK.
// It is not the authority over writing (that is the worker's writer lock): abstract names are per network namespace.
import { openSync, type Stats } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

const O_RDWR_CREAT = 0x0002 | 0x0200;
const O_EXLOCK = 0x20;
const O_NONBLOCK = 0x4;

/** What a successor is handed: one of the two. */
export interface InstanceLock {
  readonly server?: Server;
  readonly descriptor?: number;
}

/** The lock, or undefined when another process holds it. */
export function acquireInstanceLock(stateDir: string, stat: Stats): Promise<InstanceLock | undefined> {
  return process.platform === 'linux'
    ? abstractSocket(`\0svc-${stat.dev}-${stat.ino}`)
    : Promise.resolve(exclusiveOpen(join(stateDir, 'supervisor.lock')));
}

function abstractSocket(name: string): Promise<InstanceLock | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(name, () => resolve({ server }));
  });
}

function exclusiveOpen(path: string): InstanceLock | undefined {
  try {
    return { descriptor: openSync(path, O_RDWR_CREAT | O_EXLOCK | O_NONBLOCK, 0o600) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EWOULDBLOCK'))
      return undefined;
    throw error;
  }
}
