// `svc doctor --live URL`: prints the readiness report of a running host unchanged.
//
//   LIVE-1  The token comes only from SVC_HTTP_TOKEN. Over plain HTTP it is sent to loopback only, unless that is allowed.
//   LIVE-2  The request takes at most five seconds. Redirects are not followed, and the size of the answer is bounded.
//   LIVE-3  A failure is printed as {"ready":false,"error":{code,…}}, so that readers of `ready` need no other case.
//   LIVE-4  Only a report with its schema is taken: the answer for probes says `ready` as well.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { READINESS_SCHEMA } from '../../../shared/api/serving/readiness-schema.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { readAnswer } from '../connect/read-answer.ts';
import { hostAddress, maySendToken } from './address.ts';

export interface LiveOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly insecureHttp: boolean;
  /** Default 5 000. */
  readonly timeoutMs?: number;
}

export interface LiveAnswer {
  readonly ready: boolean;
  /** The body as received, or a document about the failure. */
  readonly text: string;
  readonly report: Readonly<Record<string, unknown>>;
}

const MAX_BYTES = 1024 * 1024;
const PATH = '/api/system/readiness';

/** Throws `usage` for an invalid address. */
export async function askLive({ url, token, insecureHttp, timeoutMs = 5_000 }: LiveOptions): Promise<LiveAnswer> {
  const target = targetOf(url);
  if (token === undefined || token === '')
    return failed('token_missing', 'SVC_HTTP_TOKEN is not set', 'SVC_HTTP_TOKEN=… svc doctor --live <url>');
  if (!maySendToken(target, insecureHttp)) {
    return failed(
      'insecure_http',
      'the token would cross a network in the clear',
      'use https, or --insecure-http where the network is yours',
    );
  }
  try {
    const { status, body, location } = await get(target, token, timeoutMs);
    return judge(target, { status, body, location });
  } catch (error) {
    const timedOut = error instanceof SvcError && error.code === 'timeout';
    return failed(
      timedOut ? 'timeout' : 'request_failed',
      `${target.origin}: ${timedOut ? `no answer within ${timeoutMs / 1_000} s` : `the request failed: ${codeOf(error)}`}`,
      'on the machine of the host `svc runtime status` says whether it runs, and at which address',
    );
  }
}

function targetOf(url: string): URL {
  const target = hostAddress('--live', url);
  target.pathname = `${target.pathname.replace(/\/$/, '')}${PATH}`;
  return target;
}

interface Received {
  readonly status: number;
  readonly body: string;
  readonly location: string | undefined;
}

function get(target: URL, token: string, timeoutMs: number): Promise<Received> {
  return new Promise((resolve, reject) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(
      target,
      { headers: { accept: 'application/json', authorization: `Bearer ${token}` }, agent: false },
      (response) => {
        readAnswer(response, MAX_BYTES).then(
          (body) =>
            settle(() => resolve({ status: response.statusCode ?? 0, body, location: response.headers.location })),
          (error: Error) => settle(() => reject(error)),
        );
      },
    );
    const timer = setTimeout(() => request.destroy(new SvcError('timeout', 'late')), timeoutMs);
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      then();
    };
    request.on('error', (error) => settle(() => reject(error)));
    request.end();
  });
}

function judge(target: URL, { status, body, location }: Received): LiveAnswer {
  const report = parse(body);
  const isReport = report?.['schema'] === READINESS_SCHEMA && typeof report['ready'] === 'boolean';
  if ((status === 200 || status === 503) && isReport)
    return { ready: status === 200 && report['ready'] === true, text: body, report };
  if (status >= 300 && status < 400)
    return failed(
      'redirected',
      `answered with ${status}${location === undefined ? '' : ` to ${location.slice(0, 200)}`}; redirects are not followed`,
      'give the address that the host itself answers at',
    );
  if (status === 404)
    return failed(
      'not_found',
      `${target.pathname} is not there`,
      'does the address hold http.base? With http.base: /bot it is https://host/bot',
    );
  if (status === 401 || status === 403)
    return failed(
      String(report?.['code'] ?? 'invalid_token'),
      `the token was refused (${status})`,
      'the report needs a token of scope full',
    );
  const schema = report?.['schema'];
  if (typeof schema === 'string' && schema !== READINESS_SCHEMA)
    return failed(
      'unexpected_answer',
      `answered with a report of schema ${schema.slice(0, 40)}; this svc reads ${READINESS_SCHEMA}`,
      'use the svc command of the same version as the host',
    );
  return failed(
    String(report?.['code'] ?? 'unexpected_answer'),
    `answered with ${status}, which is no readiness report of svc`,
    'does the address lead to the host itself, with its http.base? The log of a proxy before it says what it answered',
  );
}

function parse(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined; // another kind of server
  }
}

function failed(code: string, message: string, hint: string | undefined): LiveAnswer {
  const report = { ready: false, error: { code, message, ...(hint === undefined ? {} : { hint }) } };
  return { ready: false, text: JSON.stringify(report), report };
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
