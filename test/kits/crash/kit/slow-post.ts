// One POST as a client far away makes it: the body comes some time after the head, so that the request is open for a while.
import { Agent, request } from 'node:http';

export type PostEnd =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: string;
      /** Refused because its signature was of another time by then: the machine's clock was set, or it stood still, while the request was open. */
      readonly isStale: boolean;
    }
  /** Nobody listens: nothing was sent. */
  | { readonly kind: 'unreachable' }
  /** The connection ended without an answer. */
  | { readonly kind: 'cut' };

export interface SlowPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly transitMs: number;
  /** Called when there is a connection: from now on the request may have an effect. */
  readonly connected?: () => void;
}

const agent = new Agent({ keepAlive: false });
const LIMIT_MS = 30_000;
/** Platforms sign a time, which receivers take within five minutes. */
const STALE_MS = 290_000;

export function slowPost({ url, headers, body, transitMs, connected }: SlowPost): Promise<PostEnd> {
  return new Promise((resolve) => {
    let isConnected = false;
    const begunAt = Date.now();
    const post = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      timeout: LIMIT_MS,
    });
    const cut = (): void => resolve(isConnected ? { kind: 'cut' } : { kind: 'unreachable' });
    post.on('error', cut);
    post.on('close', cut);
    post.on('timeout', () => post.destroy(new Error('no answer')));
    post.on('socket', (socket) => {
      socket.once('connect', () => {
        isConnected = true;
        connected?.();
        setTimeout(() => post.end(body.slice(body.length >> 1)), transitMs);
      });
    });
    post.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        const { statusCode: status = 0 } = response;
        const isStale = status === 401 && Math.abs(Date.now() - begunAt) > STALE_MS;
        resolve({ kind: 'answered', status, body: text, isStale });
      });
      response.on('error', cut);
    });
    post.write(body.slice(0, body.length >> 1));
  });
}
