// HTTP calls of the chat page. The token goes into a header and never into a URL.
import type { ChatMessages, ChatPress, ChatSay } from '../../../shared/api/chat.ts';

/** Reason of a failed call. `status` is 0 if there was no answer. */
export interface Fault {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
}
export type Answer<T> =
  | { readonly ok: true; readonly value: T; readonly position: string | undefined }
  | { readonly ok: false; readonly fault: Fault };

export interface ApiClient {
  /** Resolves a path below the page's own address. */
  url(path: string): URL;
  /** Messages changed after the cursor, or the newest ones without a cursor. */
  messages(person: string, after: number | undefined): Promise<Answer<ChatMessages>>;
  say(say: ChatSay): Promise<Answer<unknown>>;
  press(press: ChatPress): Promise<Answer<unknown>>;
}

const TIME_LIMIT_MS = 15_000;

export function apiClient(base: URL, token: () => string): ApiClient {
  const url = (path: string): URL => new URL(path, base);
  const call = async <T>(path: string, body?: object): Promise<Answer<T>> => {
    try {
      const response = await fetch(url(path), {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${token()}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIME_LIMIT_MS),
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
      });
      if (!response.ok) return { ok: false, fault: await faultOf(response) };
      return {
        ok: true,
        value: (await response.json()) as T,
        position: response.headers.get('svc-event-position') ?? undefined,
      };
    } catch {
      return {
        ok: false,
        fault: {
          status: 0,
          code: 'unreachable',
          title: 'The host does not answer',
          requestId: undefined,
          retryAfterMs: undefined,
        },
      };
    }
  };
  return {
    url,
    messages: (person, after) =>
      call(
        `api/chat/messages?${new URLSearchParams({ person, ...(after === undefined ? {} : { after: String(after) }) }).toString()}`,
      ),
    say: (say) => call('api/chat/say', say),
    press: (press) => call('api/chat/press', press),
  };
}

async function faultOf(response: Response): Promise<Fault> {
  const problem = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const seconds = response.headers.get('retry-after');
  return {
    status: response.status,
    code: text(problem['code']) ?? `http_${response.status}`,
    title: text(problem['detail']) ?? text(problem['title']) ?? `The host answered ${response.status}`,
    requestId: text(problem['requestId']) ?? response.headers.get('x-request-id') ?? undefined,
    retryAfterMs: seconds !== null && /^\d{1,4}$/.test(seconds) ? Number(seconds) * 1_000 : undefined,
  };
}
