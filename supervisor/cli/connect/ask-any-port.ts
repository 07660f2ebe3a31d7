// A GET whose answer is read as it comes, as fetch gives it, at any port: fetch asks at none that browsers refuse.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

export interface AskOptions {
  readonly headers: Headers;
  /** Ends the request, or the answer. */
  readonly signal: AbortSignal;
  /** Nothing was heard for so long: whoever listens there does not answer any more. */
  readonly silenceMs: number;
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Rejects when nobody answers; redirects are not followed. */
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
