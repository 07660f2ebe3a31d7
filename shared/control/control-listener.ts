// Server of the control protocol, for supervisor and worker: a local socket, one request a line, one answer a line.
//
//   CONTROL-SOCKET-1  A line over 64 KiB, or one that is no request, gets one answer and ends the connection. Memory for each client is bounded.
//   CONTROL-SOCKET-2  At most 64 clients are connected. A client with 1 MiB of unread answers is disconnected.
//   CONTROL-SOCKET-3  The socket is bound by a relative name in the project folder, with mode 0600. It is recreated if it was removed.
//   CONTROL-SOCKET-4  A file at the path is removed only if it is our own socket and dead. Any other file fails the start.
//                     If such a file appears later, it is reported and kept. The socket is recreated once it is gone.
//   CONTROL-SOCKET-5  If its folder was replaced, the listener creates and removes no socket there, since that folder is not its own.
//   CONTROL-SOCKET-6  A file system that takes no new file (ENOSPC: no inode is left) does not fail the start. The socket is made once there is room.
import { chmodSync, lstatSync, rmSync, type Stats } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import {
  CONTROL_PROTOCOL,
  type ControlAnswer,
  type ControlRequest,
  MAX_REQUEST_BYTES,
  parseRequest,
} from '../api/control.ts';
import { fewFilesLeftIn } from '../files/free-files.ts';
import { StateWatch } from '../files/state-watch.ts';
import { coerceError, SvcError } from '../svc-error.ts';

const MAX_CLIENTS = 64;
const MAX_UNREAD_BYTES = 1024 * 1024;
const MAX_OPEN_REQUESTS = 16;
const IDLE_MS = 120_000;
const LOOK_MS = 2_000;

export interface ControlListenerOptions {
  /** Relative to the working folder. */
  readonly path: string;
  readonly capabilities: readonly string[];
  /** Returns the result of a request. Throws SvcError. */
  answer(request: ControlRequest): Promise<unknown>;
  /** Called once when the socket file was recreated, or could not be. */
  onTrouble?(message: string): void;
  /** Idle time in ms after which a client without an open request is disconnected. */
  readonly idleMs?: number;
}

export interface ControlListener {
  close(): Promise<void>;
}

/** Listens. Rejects if a live process answers at the path, if another file is there, or if the bind fails. */
export async function listenForControl(options: ControlListenerOptions): Promise<ControlListener> {
  const clients = new Set<Socket>();
  const open = async (former?: Server): Promise<Server> => {
    await removeStale(options.path);
    former?.close(); // only now: closing removes whatever is at its path
    const server = createServer((socket) => serve(socket, { ...options, clients }));
    await bind(server, options.path);
    return server;
  };
  const folder = new StateWatch(dirname(options.path));
  let opening = false;
  let told = '';
  const isGone = (): boolean => {
    try {
      return server === undefined || inodeOf(options.path) !== ours;
    } catch (error) {
      tell(`the control socket cannot be looked at: ${coerceError(error).message}`);
      return false;
    }
  };
  const tell = (message: string): void => {
    if (message !== told) options.onTrouble?.(message);
    told = message;
  };
  let server: Server | undefined;
  let ours: number | undefined;
  try {
    server = await open();
    ours = inodeOf(options.path);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    tell(`the control socket cannot be made yet: ${noRoomText(error, options.path)}`);
  }
  const isOursStill = (): boolean => {
    try {
      const there = inodeOf(options.path);
      return folder.isThere() && (there === undefined || there === ours);
    } catch {
      return false; // the folder cannot be read
    }
  };
  const look = setInterval(() => {
    if (!folder.isThere()) {
      clearInterval(look);
      options.onTrouble?.('the folder of the control socket was removed or replaced: none is made there');
      return;
    }
    if (opening || !isGone()) return;
    opening = true;
    const former = server;
    open(former)
      .then((next) => {
        server = next;
        ours = inodeOf(options.path);
        tell(former === undefined ? 'the control socket is made' : 'the control socket was gone and is there again');
        told = '';
      })
      .catch((error: unknown) => {
        if (isNoRoom(error)) tell(`the control socket cannot be made yet: ${noRoomText(error, options.path)}`);
        else tell(`the control socket is gone: ${coerceError(error).message}`);
      })
      .finally(() => {
        opening = false;
      });
  }, LOOK_MS);
  look.unref();
  return {
    close: () =>
      new Promise((resolve) => {
        clearInterval(look);
        for (const client of clients) client.destroySoon();
        if (server === undefined) return resolve();
        // Closing would remove the file that is now at its path.
        if (!isOursStill()) return resolve(void server.unref());
        server.close(() => resolve());
        remove(options.path);
      }),
  };
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      server.on('error', () => {}); // a failed accept (EMFILE): the client tries again
      try {
        chmodSync(path, 0o600);
        resolve();
      } catch (error) {
        server.close();
        reject(coerceError(error));
      }
    });
  });
}

/** Removes a dead socket. An answer behind the file means that the path is in use. */
async function removeStale(path: string): Promise<void> {
  const there = statOf(path);
  if (there === undefined) return;
  refuseOther(path, there);
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      reject(new Error(`another process answers at ${path}`));
    });
    probe.once('error', () => {
      try {
        rmSync(path, { force: true });
        resolve();
      } catch (error) {
        reject(coerceError(error));
      }
    });
  });
}

/** Refuses any other file, since it may be valuable. A symbolic link is not followed. */
function refuseOther(path: string, there: Stats): void {
  const refuse = (what: string, hint: string): never => {
    throw new SvcError('state_dir_unsafe', `${path} ${what}`, { hint });
  };
  if (!there.isSocket()) refuse('is in the way: it is no socket', 'move it away; svc makes its own');
  const uid = process.getuid?.() ?? there.uid;
  if (there.uid !== uid)
    refuse(`is a socket of user ${there.uid}, not of ${uid}`, 'run svc as its owner, or remove it if nobody needs it');
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next start replaces a dead socket that remains.
  }
}

const isNoRoom = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(String((error as { code?: unknown })?.code));

const noRoomText = (error: unknown, path: string): string =>
  fewFilesLeftIn(dirname(path)) ?? `no room: ${coerceError(error).message}`;

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

const inodeOf = (path: string): number | undefined => statOf(path)?.ino;

type ServeOptions = ControlListenerOptions & { readonly clients: Set<Socket> };

function serve(socket: Socket, options: ServeOptions): void {
  if (options.clients.size >= MAX_CLIENTS) {
    socket.destroy();
    return;
  }
  options.clients.add(socket);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => options.clients.delete(socket));
  let waiting = Buffer.alloc(0);
  let openRequests = 0;
  // A `stop` is answered after the drain, which may take longer than the idle time.
  socket.setTimeout(options.idleMs ?? IDLE_MS, () => openRequests === 0 && socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (let end = waiting.indexOf(10); end !== -1; end = waiting.indexOf(10)) {
      const line = waiting.subarray(0, end);
      waiting = waiting.subarray(end + 1);
      const request =
        line.length > MAX_REQUEST_BYTES ? { fault: 'the line is too long' } : parseRequest(line.toString());
      if ('fault' in request) return refuse(socket, options, request.fault);
      if (openRequests >= MAX_OPEN_REQUESTS) return refuse(socket, options, 'too many open requests');
      openRequests += 1;
      void answerTo(request, options).then((answer) => {
        openRequests -= 1;
        send(socket, answer);
      });
    }
    if (waiting.length > MAX_REQUEST_BYTES) refuse(socket, options, 'the line is too long');
  });
}

async function answerTo(request: ControlRequest, { answer, capabilities }: ServeOptions): Promise<ControlAnswer> {
  const head = { id: request.id, protocol: CONTROL_PROTOCOL, capabilities };
  try {
    return { ...head, ok: true, result: await answer(request) };
  } catch (error) {
    const { code, message, hint } = coerceError(error);
    return { ...head, ok: false, error: { code, message, ...(hint === undefined ? {} : { hint }) } };
  }
}

function refuse(socket: Socket, { capabilities }: ServeOptions, message: string): void {
  socket.removeAllListeners('data');
  send(socket, {
    id: 0,
    protocol: CONTROL_PROTOCOL,
    capabilities,
    ok: false,
    error: { code: 'invalid_request', message },
  });
  socket.destroySoon();
}

function send(socket: Socket, answer: ControlAnswer): void {
  if (socket.destroyed) return;
  socket.write(`${JSON.stringify(answer)}\n`);
  if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
}
