// HTTP as bytes on a socket: for requests that no client library would send, and answers as they are.
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Everything that came. */
  readonly text: string;
  readonly closed: boolean;
}

export interface RawOptions {
  readonly limitMs?: number;
  /** Keep sending this chunk until an answer or an end comes. */
  readonly flood?: string;
}

/**
 * Sends bytes on a new connection and gives the first answer, complete by its length or by the end of the connection. One to HEAD has no end
 * of its own: such a request asks for the connection to be closed.
 */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  { limitMs = 60_000, flood }: RawOptions = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const isHead = bytes.slice(0, 5).toString() === 'HEAD ';
    let text = '';
    const finish = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(readAnswer(text, closed));
    };
    const timer = setTimeout(() => finish(false), limitMs);
    socket.setEncoding('latin1');
    socket.on('connect', () => {
      socket.write(bytes);
      if (flood !== undefined) pour(socket, flood, () => text !== '');
    });
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!isHead && isComplete(text)) finish(false);
    });
    socket.on('error', () => {});
    socket.on('close', () => finish(true));
  });
}

function pour(socket: Socket, chunk: string, isOver: () => boolean): void {
  const next = (): void => {
    if (isOver() || socket.destroyed) return;
    if (socket.write(chunk)) setImmediate(next);
    else socket.once('drain', next);
  };
  next();
}

const FINAL = /^HTTP\/1\.1 (?!1(?!01)\d\d)(\d{3})/m;

function isComplete(text: string): boolean {
  const { status, headers, body } = readAnswer(text, false);
  if (status === 0) return false;
  const length = headers['content-length'];
  if (length !== undefined) return body.length >= Number(length);
  return (
    status === 204 ||
    status === 304 ||
    status === 101 ||
    headers['content-type']?.startsWith('text/event-stream') === true
  );
}

function readAnswer(text: string, closed: boolean): RawAnswer {
  const start = text.search(FINAL);
  const end = start === -1 ? -1 : text.indexOf('\r\n\r\n', start);
  if (end === -1) return { status: 0, headers: {}, body: '', text, closed };
  const [first = '', ...lines] = text.slice(start, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(first.slice(9, 12)), headers, body: text.slice(end + 4), text, closed };
}

/** A request as text: a Host header and an end are added. */
export function requestText(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', body].join('\r\n');
}
