// A server in the place of the host, which keeps what arrives: target, headers and body, byte by byte.
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wholeBody } from '../../../../support/http/whole-body.ts';
import type { Cleanup } from '../../../../support/temporary-project.ts';

export interface Recorded {
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly sha256: string;
}

export interface Recorder {
  readonly port: number;
  /** The request that had this value in the header x-test. */
  of(mark: string): Recorded | undefined;
}

export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

export async function startRecorder(t: Cleanup): Promise<Recorder> {
  const requests = new Map<string, Recorded>();
  const server = createServer((request, response) => {
    void wholeBody(request).then((body = Buffer.alloc(0)) => {
      const { url = '', headers } = request;
      requests.set(String(headers['x-test']), { target: url, headers, sha256: sha256(body) });
      response.end('recorded');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, of: (mark) => requests.get(mark) };
}
