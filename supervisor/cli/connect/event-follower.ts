// Follows the event stream of a host over restarts. It resumes after the last id and reads the token again at each attempt.
// A connection without data for two heartbeats counts as dead. The host says when to reconnect; failed attempts back off.

import { coerceError, SvcError } from '../../../shared/svc-error.ts';
import { backoffDelay, nextFailures } from '../../../shared/time/backoff.ts';
import type { CommandContext, HostClient } from '../command.ts';
import { askAnyPort } from './ask-any-port.ts';

export interface StreamMessage {
  readonly id: string | undefined;
  /** Event type, or a control frame: `svc.hello`, `svc.gap`, … */
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface FollowQuery {
  readonly types?: string | undefined;
  readonly endpoints?: string | undefined;
  /** Resume after this id. */
  readonly after?: string | undefined;
}

export interface FollowSink {
  /** Returning `stop` ends the stream. */
  message(message: StreamMessage): 'stop' | undefined;
  /** Called when the connection is lost, and again if the reason changes. Reconnection goes on. */
  lost(why: string): void;
}

const FINAL_STATUS: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);
const SILENCE_MS = 30_000;
/** Short at first, because the host may just be restarting. */
const WAITS = { firstMs: 250, mostMs: 15_000 };

/** Resolves when the signal aborts or the sink stops. Throws the host's errors, and `not_running` if it never connected. */
export async function followEvents(
  context: Pick<CommandContext, 'host' | 'signal'>,
  query: FollowQuery,
  sink: FollowSink,
): Promise<void> {
  const { createEventSource } = await import('eventsource-client');
  await new Promise<void>((resolve, reject) => {
    const state = { connected: false, lastId: query.after, over: false, failures: 0, upAt: Number.NaN, why: '' };
    let client: { close(): void; readonly lastEventId: string | undefined } | undefined;
    let watchdog: NodeJS.Timeout | undefined; // of an open connection
    let comeback: NodeJS.Timeout | undefined; // of a closed one

    const end = (error?: Error): void => {
      if (state.over) return;
      state.over = true;
      clearTimeout(watchdog);
      clearTimeout(comeback);
      context.signal.removeEventListener('abort', onAbort);
      client?.close();
      if (error === undefined) resolve();
      else reject(error);
    };
    const onAbort = (): void => end();
    const attempt = async (_url: string | URL, init?: RequestInit): Promise<Response> => {
      try {
        const response = await connect(context, query, init);
        state.connected = true;
        state.upAt = performance.now();
        state.why = '';
        alive();
        return response;
      } catch (error) {
        if (!state.connected || (error instanceof SvcError && error.details['final'] === true)) end(coerceError(error));
        else lost(coerceError(error).message);
        throw error;
      }
    };
    const lost = (message: string): void => {
      const why = message.split('\n', 1)[0] ?? '';
      if (!state.over && why !== state.why) sink.lost(why);
      state.why = why;
    };
    const comeBack = (toldMs: number): void => {
      clearTimeout(watchdog);
      client?.close(); // otherwise it would reconnect at its own fixed pace forever
      if (state.over) return;
      const uptimeMs = performance.now() - state.upAt;
      if (!Number.isNaN(uptimeMs)) lost('connection lost');
      state.failures = nextFailures(state.failures, uptimeMs);
      state.upAt = Number.NaN;
      comeback = setTimeout(open, state.failures === 1 ? toldMs : backoffDelay(state.failures, WAITS));
    };
    const alive = (): void => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => {
        client?.close();
        open();
      }, SILENCE_MS);
    };
    const onMessage = (message: { id?: string | undefined; event?: string | undefined; data: string }): void => {
      alive();
      if (state.over) return;
      state.lastId = message.id ?? state.lastId;
      if (
        sink.message({
          id: message.id,
          event: message.event ?? 'message',
          data: JSON.parse(message.data) as StreamMessage['data'],
        }) === 'stop'
      )
        end();
    };
    const open = (): void => {
      client = createEventSource({
        url: 'http://localhost/', // replaced: each attempt asks the project for its host's address
        fetch: attempt,
        ...(state.lastId === undefined ? {} : { initialLastEventId: state.lastId }),
        onMessage,
        onComment: alive,
        onScheduleReconnect: ({ delay }) => comeBack(delay),
      });
    };
    context.signal.addEventListener('abort', onAbort);
    if (context.signal.aborted) end();
    else open();
  });
}

async function connect(
  context: Pick<CommandContext, 'host' | 'signal'>,
  { types, endpoints }: FollowQuery,
  init: RequestInit | undefined,
): Promise<Response> {
  const host = await context.host();
  const search = new URLSearchParams(
    Object.entries({ types, endpoints }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const headers = new Headers(init?.headers);
  headers.set('Authorization', host.authorization());
  const ask = (signal: AbortSignal): Promise<Response> =>
    askAnyPort(`${host.url}/api/events?${search}`, {
      headers,
      signal: AbortSignal.any([signal, ...(init?.signal == null ? [] : [init.signal])]),
      silenceMs: SILENCE_MS,
    });
  const response = await host.awaited(ask).catch((cause: unknown) => {
    if (cause instanceof SvcError) throw cause;
    throw new SvcError('not_running', `no host answers at ${host.url}`, { cause, hint: 'svc runtime status' });
  });
  if (response.status === 200) return response;
  throw await refusalOf(response, host);
}

/** `details.final` means that a retry would fail in the same way. */
async function refusalOf(response: Response, host: HostClient): Promise<SvcError> {
  const body: unknown = await response.json().catch(() => undefined); // a proxy may answer in another format
  const { code, message, hint, details } = host.refusal(response.status, body, 'GET /api/events');
  return new SvcError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    details: { ...details, final: FINAL_STATUS.has(response.status) },
  });
}
