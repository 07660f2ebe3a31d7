// One supervisor a project: a lock that the kernel releases when its holder dies, however it dies.
//
// Linux: an abstract Unix socket named by device and inode of `.svc`, so that two names of one folder are one lock. Elsewhere: an open with O_EXLOCK.
// It is not the authority over writing (that is the worker's writer lock): abstract names are per network namespace.
import { closeSync, openSync, type Stats } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const O_RDWR_CREAT = 0x0002 | 0x0200;
const O_EXLOCK = 0x20;
const O_NONBLOCK = 0x4;

export interface InstanceLock {
  release(): void;
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
    server.listen(name, () => resolve({ release: () => server.close() }));
  });
}

function exclusiveOpen(path: string): InstanceLock | undefined {
  try {
    const descriptor = openSync(path, O_RDWR_CREAT | O_EXLOCK | O_NONBLOCK, 0o600);
    return { release: () => closeSync(descriptor) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EWOULDBLOCK'))
      return undefined;
    throw error;
  }
}
