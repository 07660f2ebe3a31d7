// HTTP client for the running host. The worker is asked for its address over the local socket.
// So the token goes to no other process on the port. An address changed in the file is not used before the host uses it.
// A fault in the configuration is reported, but does not prevent access to a host that still runs.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { type Access, readAccess } from '../../../shared/config/access.ts';
import { ERRORS, type ErrorCode } from '../../../shared/error-codes.ts';
import { CONFIG_FILE } from '../../../shared/files/paths.ts';
import { isEveryAddress } from '../../../shared/ip-address.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { HostClient } from '../command.ts';
import { awaited, refuseDeferred, stateText } from './awaited-host.ts';
import { findRunning } from './control-client.ts';
import { readAnswer } from './read-answer.ts';

const TIMEOUT_MS = 30_000;
const POLL_MS = 100;
const MAX_BYTES = 64 * 1024 * 1024;

export interface ConnectOptions {
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints a line on stderr. */
  readonly note: (line: string) => void;
}

/** Valid as long as a command runs: each call finds the host again. Throws `config_invalid`, `secret_invalid`, `not_running`. */
export function hostConnector(options: ConnectOptions): () => Promise<HostClient> {
  let told: string | undefined;
  return async () => {
    const { project, env: environment, note } = options;
    const access = readAccess({ project, mode: 'development', environment });
    const address = await boundAddress(access, options);
    const warning = access.fault === undefined ? undefined : faultWarning(access.fault);
    if (warning !== undefined && warning !== told) note(warning);
    told = warning;
    return clientAt(address, access, options);
  };
}

const faultWarning = ({ message }: SvcError): string =>
  `warning: ${CONFIG_FILE} has a fault, without which the host goes on (\`svc config check\` tells all): ${message.split('\n', 1)[0]}`;

function clientAt({ host, port }: Address, access: Access, { project, note }: ConnectOptions): HostClient {
  const { token, base } = access;
  if (token === undefined) throw new SvcError('secret_invalid', 'http.token is not set', { hint: 'svc token create' });
  const url = `http://${loopbackOf(host)}:${port}${base}`;
  const authorization = `Bearer ${token}`;
  const refusal = (...answer: Parameters<typeof problemError>): SvcError => {
    const error = problemError(...answer);
    return error.code === 'invalid_token' ? otherToken(error, access) : error;
  };
  return {
    url,
    authorization: () => authorization,
    awaited: (ask) => awaited(ask, { project, note }),
    refusal,
    async request(method, path, { body, headers = {}, idempotencyKey, signal: given } = {}) {
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
      const ask = (signal: AbortSignal): Promise<IncomingMessage> =>
        send(`${url}${path}`, { ...asked, signal: given === undefined ? signal : AbortSignal.any([signal, given]) });
      const response = await awaited(ask, { project, note, ...change });
      const received = parse(await readAnswer(response, MAX_BYTES));
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) throw refusal(status, received, `${method} ${path}`);
      return { status, headers: new Headers(headersOf(response)), body: received };
    },
  };
}

/** The address at which this machine reaches a server that binds `host`. */
export function loopbackOf(host: string): string {
  const address = !isEveryAddress(host) ? host : isIPv6(host) ? '::1' : '127.0.0.1';
  return isIPv6(address) ? `[${address}]` : address;
}

type Address = NonNullable<RuntimeStatus['address']>;

/**
 * Between two workers the supervisor holds the configured socket. If the configuration cannot be read, the next worker tells its address.
 * Throws the configuration's fault if no worker runs, and `not_running`.
 */
async function boundAddress({ fault, token, address: configured }: Access, options: ConnectOptions): Promise<Address> {
  let told: string | undefined;
  for (const endsAt = performance.now() + TIMEOUT_MS; ; ) {
    const status = (await findRunning(options.project))?.status;
    const isHeld = status !== undefined && (status.address !== null || (status.socket ?? null) !== null);
    if (fault !== undefined && (token === undefined || !isHeld)) throw fault;
    if (status === undefined) throw notRunning('nothing is running here');
    refuseDeferred(status);
    if (!isHeld) throw notRunning(`the host is ${stateText(status)}`);
    const address = status.address ?? configured;
    if (address !== undefined) return address;
    if (performance.now() > endsAt) throw notRunning(`the host is ${stateText(status)}, and tells no address`);
    const text = stateText(status);
    if (text !== told) options.note(`waiting: the host is ${text}`);
    told = text;
    await pause(POLL_MS);
  }
}

/** The project's token was rejected. The host's own message does not help here. */
const otherToken = (error: SvcError, { variable }: Access): SvcError =>
  new SvcError('invalid_token', 'the host has another token: it was changed since', {
    cause: error,
    hint: `${variable === undefined ? '' : `${variable} of this shell was taken, which wins over .env; `}\`svc runtime reload\` takes a changed token in, else \`svc runtime restart\``,
    details: error.details,
  });

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
    return text; // metrics, or the answer of a foreign server
  }
}

function headersOf(response: IncomingMessage): [string, string][] {
  return Object.entries(response.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  );
}

/** Converts an error answer. Uses the problem document's code if it is a known one. */
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
