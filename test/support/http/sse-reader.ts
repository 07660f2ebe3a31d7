// A reader of server-sent events over fetch, for tests: every block as it came, with its id, name and data.
import { until } from '../until.ts';

export interface SseBlock {
  readonly id: string | undefined;
  readonly event: string;
  readonly retry: number | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface SseReader {
  readonly response: Response;
  readonly blocks: readonly SseBlock[];
  readonly comments: readonly string[];
  readonly ended: boolean;
  /** Blocks of stored events, without the control frames. */
  events(): readonly SseBlock[];
  find(event: string): SseBlock | undefined;
  lastId(): string | undefined;
  close(): void;
  waitFor(event: string): Promise<SseBlock>;
}

export async function openSse(url: string, headers: Readonly<Record<string, string>> = {}): Promise<SseReader> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const state = { blocks: [] as SseBlock[], comments: [] as string[], ended: false };
  const done = readAll(response, state);
  const reader: SseReader = {
    response,
    blocks: state.blocks,
    comments: state.comments,
    get ended() {
      return state.ended;
    },
    events: () => state.blocks.filter(({ event }) => !event.startsWith('svc.')),
    find: (event) => state.blocks.find((block) => block.event === event),
    lastId: () => state.blocks.findLast(({ id }) => id !== undefined)?.id,
    close: () => abort.abort(),
    waitFor: (event) => until(() => state.blocks.find((block) => block.event === event), { what: event }),
  };
  void done; // ends with the response; a reset by either side is an end too
  return reader;
}

async function readAll(
  response: Response,
  state: { blocks: SseBlock[]; comments: string[]; ended: boolean },
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const bytes of response.body ?? []) {
      rest += decoder.decode(bytes, { stream: true });
      const parts = rest.split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) take(part, state);
    }
  } catch {
    // aborted here, or cut by the server: both are the end
  }
  state.ended = true;
}

function take(text: string, state: { blocks: SseBlock[]; comments: string[] }): void {
  if (text.startsWith(':')) return void state.comments.push(text);
  const lines = text.split('\n');
  const field = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const retry = field('retry');
  state.blocks.push({
    id: field('id'),
    event: field('event') ?? 'message',
    retry: retry === undefined ? undefined : Number(retry),
    data: JSON.parse(field('data') ?? '{}') as SseBlock['data'],
  });
}
