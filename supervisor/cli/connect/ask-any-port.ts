// A streamed GET at any port, with an answer like fetch's. fetch itself refuses the ports that browsers block.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

export interface AskOptions {
  readonly headers: Headers;
  /** Cancels the request or the answer. */
  readonly signal: AbortSignal;
  /** Limit in ms without any data, after which the server counts as dead. */
  readonly silenceMs: number;
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Rejects if no server answers. Redirects are not followed. */
export function askAnyPort(url: string, { headers, signal, silenceMs }: AskOptions): Promise<Response> {
  return new Promise((resolve, reject) => {
    const options = { headers: Object.fromEntries(headers), agent: false, signal, timeout: silenceMs };
    const request = httpRequest(url, options, (answer) => resolve(responseOf(answer)));
    request
      .on('timeout', () => request.destroy(new Error(`nothing was heard for ${silenceMs / 1_000} s`)))
      .on('error', reject)
      .end();
  });
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0, headers } = answer;
  const type = headers['content-type'];
  const body = WITHOUT_BODY.has(status) ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
  return new Response(body, {
    status,
    headers: type === undefined ? {} : { 'content-type': type },
  });
}
