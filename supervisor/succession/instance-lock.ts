// Lock that allows one supervisor for each project. The kernel releases it when the holder dies. A holder may share it with its successor.
//
// Linux: an abstract Unix socket named by the device and inode of `.svc`, so two paths to one folder share one lock.
// Elsewhere: an open with O_EXLOCK. This lock does not protect the database, because abstract names are per network namespace.
// The worker's writer lock does that.
//
//   INSTANCE-LOCK-1  Any user can bind an abstract name. A holder counts only if its process is ours, root's or of the owner of `.svc`.
//                    If the kernel does not tell, the holder counts as well.
//   INSTANCE-LOCK-2  If a stranger holds the usual name, the lock gets a random name from `.svc/lock-name.<n>`. Strangers cannot read it.
//                    If a stranger sees that name in use and binds it later, the next number follows.
//   INSTANCE-LOCK-3  Each `lock-name.<n>` is created once. The newest is the lock. Only the holder of a newer one removes older ones.
import { randomBytes } from 'node:crypto';
import { linkSync, openSync, readdirSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { readOwnFile } from '../../shared/files/own-file.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { holderOf, type LockQuery } from './lock-holder.ts';

const O_RDWR_CREAT = 0x0002 | 0x0200;
const O_EXLOCK = 0x20;
const O_NONBLOCK = 0x4;
const TRIES = 20;
const NAME_FILE = /^lock-name\.(\d+)$/;
const TOKEN = /^[0-9a-f]{32}$/;

/** Passed to a successor: one of the two. */
export interface InstanceLock {
  readonly server?: Server;
  readonly descriptor?: number;
  /** A stranger holds the usual name. */
  readonly isBesideStranger?: boolean;
}

type Taken = Server | 'ours' | 'stranger';

/** Returns undefined if another supervisor holds the lock. */
export async function acquireInstanceLock(stateDir: string, stat: Stats): Promise<InstanceLock | undefined> {
  if (process.platform !== 'linux') return exclusiveOpen(join(stateDir, 'supervisor.lock'));
  const query = { users: [process.getuid?.() ?? 0, 0, stat.uid], project: dirname(stateDir) };
  const first = (): Promise<Taken> => take(`svc-${stat.dev}-${stat.ino}`, query);
  const usual = await first();
  if (usual === 'ours') return undefined;
  if (usual !== 'stranger' && newestName(stateDir) === undefined) return { server: usual };
  const secret = await takeSecret(stateDir, query);
  // While the secret name did not exist yet, the stranger may have left and another supervisor may have come.
  const again = secret === undefined || usual !== 'stranger' ? usual : await first();
  if (typeof again !== 'string') again.close();
  if (again === 'ours') secret?.close();
  return secret === undefined || again === 'ours'
    ? undefined
    : { server: secret, isBesideStranger: again === 'stranger' };
}

/** Binds the newest secret name of `.svc`. Undefined if another supervisor holds it. */
async function takeSecret(stateDir: string, query: LockQuery): Promise<Server | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const number = newestName(stateDir) ?? 0;
    const token = number === 0 ? undefined : tokenOf(stateDir, number);
    const taken = token === undefined ? 'stranger' : await take(`svc-${token}`, query);
    if (taken === 'ours') return undefined;
    if (taken === 'stranger') makeName(stateDir, number + 1);
    else if (newestName(stateDir) === number) {
      removeOlder(stateDir, number);
      return taken;
    } else taken.close();
  }
  throw new SvcError(
    'refused',
    'the lock of the supervisor cannot be had: each of its names was taken by another user',
    {
      hint: 'look for who does that: `ss -xlp | grep svc-`',
    },
  );
}

const nameFile = (stateDir: string, number: number): string => join(stateDir, `lock-name.${number}`);

const namesIn = (stateDir: string): readonly number[] =>
  readdirSync(stateDir)
    .map((name) => Number(NAME_FILE.exec(name)?.[1]))
    .filter((number) => number > 0);

const newestName = (stateDir: string): number | undefined => {
  const numbers = namesIn(stateDir);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
};

function removeOlder(stateDir: string, number: number): void {
  for (const older of namesIn(stateDir).filter((each) => each < number))
    rmSync(nameFile(stateDir, older), { force: true });
}

/** Undefined if the file holds no valid token. */
function tokenOf(stateDir: string, number: number): string | undefined {
  try {
    const token = readOwnFile(nameFile(stateDir, number)).trim();
    return TOKEN.test(token) ? token : undefined;
  } catch {
    return undefined; // removed in between, or another kind of file
  }
}

/** Creates the file whole and once: if two processes make the same number, one succeeds. */
function makeName(stateDir: string, number: number): void {
  const temporary = join(stateDir, `lock-name.${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${randomBytes(16).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(temporary, nameFile(stateDir, number));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

async function take(name: string, query: LockQuery): Promise<Taken> {
  for (;;) {
    const server = await listen(`\0${name}`);
    if (server !== undefined) return server;
    const holder = holderOf(name, query);
    if (holder === 'stranger') return 'stranger';
    if (holder !== 'nobody') return 'ours'; // an unknown holder counts as ours
  }
}

/** Undefined if the name is in use. */
function listen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(name, () => {
      server.removeAllListeners('error').on('error', () => {}); // a failed accept (EMFILE) harms no client
      resolve(server);
    });
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
