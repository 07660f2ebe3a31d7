// A host that answers with fixed JSON and keeps what it was asked, for tests of commands.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}
export interface CannedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json: unknown;
}

/** `answers` by `<METHOD> <path>` with its query; what is not there is 404. */
export async function cannedHost(
  t: Cleanup,
  answers: Readonly<Record<string, CannedAnswer | ((asked: Asked) => CannedAnswer | Promise<CannedAnswer>)>>,
): Promise<{ url: string; asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const answerRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const call: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
    asked.push(call);
    const canned = answers[`${call.method} ${call.path}`] ?? answers[`${call.method} ${call.path.split('?')[0]}`];
    const answer =
      canned === undefined
        ? { status: 404, json: { code: 'not_found', title: 'There is nothing here' } }
        : typeof canned === 'function'
          ? await canned(call)
          : canned;
    response
      .writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
      .end(JSON.stringify(answer.json));
  };
  const server = createServer((request, response) => void answerRequest(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
