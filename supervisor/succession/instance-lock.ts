// One supervisor a project: a lock that the kernel releases when its holder dies, however it dies; a holder may share it with its successor.
//
// Linux: an abstract Unix socket named by device and inode of `.svc`, so that two names of one folder are one lock. Elsewhere: an open with O_EXLOCK.
// It is not the authority over writing (that is the worker's writer lock): abstract names are per network namespace.
//
//   I1  Any user can take an abstract name. A holder counts where it is a process of ours, of root, or of the owner of `.svc`; where the kernel does
//       not tell, it counts as well.
//   I2  Beside a stranger the lock has a name that only `.svc` tells (`lock-name.<n>`): nobody knows it before it is taken. A name that a stranger
//       has seen and taken since is followed by the next.
//   I3  Each `lock-name.<n>` is made once, and the newest one is the lock. Older ones are removed by the holder of a newer one alone.
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

/** What a successor is handed: one of the two. */
export interface InstanceLock {
  readonly server?: Server;
  readonly descriptor?: number;
  /** A stranger holds the name that the folder gives. */
  readonly isBesideStranger?: boolean;
}

type Taken = Server | 'ours' | 'stranger';

/** The lock, or undefined when another process holds it. */
export async function acquireInstanceLock(stateDir: string, stat: Stats): Promise<InstanceLock | undefined> {
  if (process.platform !== 'linux') return exclusiveOpen(join(stateDir, 'supervisor.lock'));
  const query = { users: [process.getuid?.() ?? 0, 0, stat.uid], project: dirname(stateDir) };
  const first = (): Promise<Taken> => take(`svc-${stat.dev}-${stat.ino}`, query);
  const usual = await first();
  if (usual === 'ours') return undefined;
  if (usual !== 'stranger' && newestName(stateDir) === undefined) return { server: usual };
  const secret = await takeSecret(stateDir, query);
  // The stranger may have left, and another supervisor have come, while the secret name was not there yet.
  const again = secret === undefined || usual !== 'stranger' ? usual : await first();
  if (typeof again !== 'string') again.close();
  if (again === 'ours') secret?.close();
  return secret === undefined || again === 'ours'
    ? undefined
    : { server: secret, isBesideStranger: again === 'stranger' };
}

/** The newest name that `.svc` tells. Undefined where another supervisor has it. */
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

/** Undefined where the file holds none. */
function tokenOf(stateDir: string, number: number): string | undefined {
  try {
    const token = readOwnFile(nameFile(stateDir, number)).trim();
    return TOKEN.test(token) ? token : undefined;
  } catch {
    return undefined; // removed meanwhile, or something else
  }
}

/** Whole and once: of two that make the same number one does (I3). */
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
    if (holder !== 'nobody') return 'ours'; // I1
  }
}

/** Undefined where somebody has the name. */
function listen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(name, () => {
      server.removeAllListeners('error').on('error', () => {}); // an accept that failed (EMFILE) is nobody's loss
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
