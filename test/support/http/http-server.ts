// The HTTP interface on a free port of the loopback over a host in memory, closed when the test ends.
import type { TestContext } from 'node:test';
import { type BoundHandle, bindSocket } from '../../../shared/process/bound-socket.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../../worker/http/server/server.ts';
import { type FakeHost, type FakeHostOptions, FULL_TOKEN, fakeHostPort } from '../hosts/fake-host-port.ts';
import { type RawAnswer, requestText, sendRaw } from './raw-http.ts';

const ANY = { host: '127.0.0.1', port: 0 };

export interface ServerUnderTest {
  readonly host: FakeHost;
  readonly http: HttpServer;
  readonly port: number;
  readonly url: string;
  /** A request as text on a new connection. */
  raw(line: string, headers?: readonly string[], body?: string): Promise<RawAnswer>;
  /** fetch with the full token, unless another is given. */
  fetch(path: string, init?: RequestInit & { readonly token?: string }): Promise<Response>;
  /** Lines that were logged at warn and above. */
  readonly logged: string[];
}

export interface UnderTestOptions
  extends FakeHostOptions,
    Pick<HttpServerOptions, 'staticDir' | 'timeouts' | 'failures' | 'gate'> {
  /** The socket comes from outside, as from a supervisor. */
  readonly isHeld?: boolean;
}

export async function startHttp(
  t: Pick<TestContext, 'after'>,
  options: UnderTestOptions = {},
): Promise<ServerUnderTest> {
  const host = fakeHostPort(options);
  const logged: string[] = [];
  const keep = (fields: Readonly<Record<string, unknown>>, message: string): void =>
    void logged.push(`${message} ${String(fields.err)}`);
  const http = createHttpServer({
    port: host,
    log: { debug: () => {}, info: () => {}, warn: keep, error: keep },
    listen: options.isHeld === true ? { handle: bindSocket(ANY) as BoundHandle } : ANY,
    ...(options.staticDir === undefined ? {} : { staticDir: options.staticDir }),
    ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
    ...(options.failures === undefined ? {} : { failures: options.failures }),
    ...(options.gate === undefined ? {} : { gate: options.gate }),
  });
  const { port } = await http.listen();
  t.after(() => http.close());
  const url = `http://127.0.0.1:${port}`;
  return {
    host,
    http,
    port,
    url,
    logged,
    raw: (line, headers, body) => sendRaw(port, requestText(line, headers, body)),
    fetch: (path, { token = FULL_TOKEN, headers, ...init } = {}) =>
      fetch(url + path, {
        ...init,
        headers: { Authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
      }),
  };
}

/** The status is answered once this is called. */
export function holdStatus(server: ServerUnderTest): () => void {
  let answer = (): void => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  server.host.system.status = async () => {
    await held;
    return {};
  };
  return answer;
}
