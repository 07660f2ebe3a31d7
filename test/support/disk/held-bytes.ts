// How many bytes this process holds in buffers, without what nobody needs any more; and a server that stops reading in the middle of what it
// is sent, so that what its client holds meanwhile can be looked at without a race.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Cleanup } from '../temporary-project.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

export function heldBytes(): number {
  collect();
  collect(); // what the first one found is handed back beside this thread; the second waits for that
  return process.memoryUsage().arrayBuffers;
}

/** Bytes of the heap of this process that somebody still needs. */
export function usedHeap(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Bodies over this size are held. */
const LARGE = 1_000_000;

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: number;
  readonly sha256: string;
}

export interface HoldingServer {
  readonly url: string;
  /** Requests that are through, in order. */
  readonly received: readonly Received[];
  /** Resolves when a large body is held. */
  readonly held: Promise<void>;
  /** Lets it come. */
  release(): void;
}

/** Answers with what `answer` says of a path; nothing of a body is kept but its end, up to 1,000 bytes, and its digest. */
export async function holdingServer(
  t: Cleanup,
  answer: (path: string, tail: string) => object,
): Promise<HoldingServer> {
  const received: Received[] = [];
  let isHeld: () => void = () => {};
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url: path = '/', headers } = request;
    const hash = createHash('sha256');
    let bytes = 0;
    let tail = '';
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      hash.update(chunk);
      tail = (tail + chunk.subarray(-1_000).toString('latin1')).slice(-1_000);
      if (bytes <= LARGE) continue;
      isHeld();
      await released;
    }
    received.push({ path, headers, bytes, sha256: hash.digest('hex') });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(path, tail)));
  };
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    release();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, held, release };
}
