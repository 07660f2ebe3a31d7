// Finds the process that holds a TCP port, so that messages can name it instead of EADDRINUSE.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { commandOf } from './process-identity.ts';

/** The error code if the address cannot be bound now. Undefined if it can. */
export function bindFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Pid that listens on a port, if /proc shows it and this user may read that process. */
export function listenerOf(port: number): number | undefined {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeningInodes(table, port)));
  if (inodes.size === 0) return undefined;
  for (const pid of entries('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of entries(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${descriptor}`))?.[1];
      if (inode !== undefined && inodes.has(inode)) return Number(pid);
    }
  }
  return undefined;
}

/** Pid and command line of the port's holder, for messages. */
export function holderOf(port: number): string {
  const pid = listenerOf(port);
  return pid === undefined ? 'another process' : `pid ${pid} (${commandOf(pid)})`;
}

const LISTEN = '0A';

function listeningInodes(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readLines(table).map((line) => line.trim().split(/\s+/));
  return rows.filter((row) => row[1]?.endsWith(wanted) === true && row[3] === LISTEN).flatMap((row) => row[9] ?? []);
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(1);
  } catch {
    return []; // not Linux
  }
}

function entries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // gone, or another user's
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
