// The running host over HTTP, at the address where its worker listens. The worker is asked for it over the local socket: the token goes to
// nobody else who may hold the port by now, and an address that was changed in the configuration since is not the host's yet.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { RuntimeStatus } from '../../shared/api/control.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { ERRORS, type ErrorCode } from '../../shared/error-codes.ts';
import { isEveryAddress } from '../../shared/ip-address.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { awaited, refuseDeferred } from './awaited-host.ts';
import type { HostClient } from './command.ts';
import { findRunning } from './control-client.ts';
import { readAnswer } from './read-answer.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;

export interface ConnectOptions {
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A line on stderr. */
  readonly note: (line: string) => void;
}

/** Throws `config_invalid`, `secret_invalid`, `not_running`. */
export async function connectHost({ project, env, note }: ConnectOptions): Promise<HostClient> {
  const { config } = loadConfig({ project, mode: 'development', environment: env });
  const token = config.http.token?.reveal();
  if (token === undefined) throw new SvcError('secret_invalid', 'http.token is not set', { hint: 'svc token create' });
  const { host, port } = (await boundAddress(project)) ?? config.http;
  const url = `http://${loopbackOf(host)}:${port}${config.http.base}`;
  const authorization = `Bearer ${token}`;
  return {
    url,
    authorization: () => authorization,
    awaited: (ask) => awaited(ask, { project, note }),
    async request(method, path, { body, headers = {}, idempotencyKey } = {}) {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const asked = {
        method,
        body: text,
        headers: {
          accept: 'application/json',
          authorization,
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          ...headers,
        },
      };
      const change = method === 'GET' ? {} : { change: `${method} ${path}` };
      const response = await awaited((signal) => send(`${url}${path}`, { ...asked, signal }), {
        project,
        note,
        ...change,
      });
      const received = parse(await readAnswer(response, MAX_BYTES));
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) throw problemError(status, received, `${method} ${path}`);
      return { status, headers: new Headers(headersOf(response)), body: received };
    },
  };
}

/** The address by which this machine reaches a server that binds `host`. */
export function loopbackOf(host: string): string {
  const address = !isEveryAddress(host) ? host : isIPv6(host) ? '::1' : '127.0.0.1';
  return isIPv6(address) ? `[${address}]` : address;
}

/** Undefined between two workers, where the supervisor holds the socket of the configuration. Throws `not_running`. */
async function boundAddress(project: string): Promise<RuntimeStatus['address'] | undefined> {
  const status = (await findRunning(project))?.status;
  if (status === undefined) throw notRunning('nothing is running here');
  refuseDeferred(status);
  const { address, socket, state, reason } = status;
  if (address === null && (socket ?? null) === null)
    throw notRunning(`the host is ${state.replaceAll('_', ' ')}${reason === null ? '' : `: ${reason}`}`);
  return address ?? undefined;
}

const notRunning = (message: string, cause?: unknown): SvcError =>
  new SvcError('not_running', message, {
    cause,
    hint: '`svc runtime status` says what runs, `svc runtime start --daemon` starts it',
  });

interface SendOptions {
  readonly method: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

function send(url: string, { method, body, headers, signal }: SendOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers: { ...headers }, agent: false, signal }, resolve);
    request.setTimeout(TIMEOUT_MS, () =>
      request.destroy(
        new SvcError('timeout', `no answer within ${TIMEOUT_MS / 1_000} s`, {
          hint: '`svc runtime status` says what the host does',
        }),
      ),
    );
    request.on('error', (error) =>
      reject(
        error instanceof SvcError ? error : notRunning(`the host does not answer at ${new URL(url).origin}`, error),
      ),
    );
    request.end(body);
  });
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text; // metrics, and what a stranger on that port may say
  }
}

function headersOf(response: IncomingMessage): [string, string][] {
  return Object.entries(response.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  );
}

/** A refusal as an error: the problem document's code where it is one of ours. */
export function problemError(status: number, body: unknown, what: string): SvcError {
  const problem = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const code =
    typeof problem['code'] === 'string' && Object.hasOwn(ERRORS, problem['code'])
      ? (problem['code'] as ErrorCode)
      : 'refused';
  const text =
    [problem['detail'], problem['title']].find((value): value is string => typeof value === 'string') ??
    `${what} was answered with ${status}`;
  const hint = typeof problem['hint'] === 'string' ? { hint: problem['hint'] } : {};
  return new SvcError(code, text, { ...hint, details: { status, requestId: problem['requestId'] } });
}
