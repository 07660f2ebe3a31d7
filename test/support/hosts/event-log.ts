// A real event log for tests: a SQLite file with the project's schema, its writer and reader, and a gateway over a small server.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coerceError } from '../../../shared/svc-error.ts';
import { type Clock, systemClock } from '../../../shared/time/clock.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Statement } from '../../../worker/database/unit.ts';
import { GroupingWriter, inlineRunner } from '../../../worker/database/writer.ts';
import { recordEvents } from '../../../worker/events/event-history.ts';
import type { EventDeps } from '../../../worker/events/event-hub.ts';
import type { NewEvent } from '../../../worker/events/event-types.ts';
import { createEventGateway, type EventGatewayOptions } from '../../../worker/events/stream/event-gateway.ts';
import type { EventGateway, StreamRequest } from '../../../worker/http/api/events-api.ts';
import type { Cleanup } from '../temporary-project.ts';

export const EPOCH = 'abcdefgh01234567';

export interface EventLogFixture {
  readonly writer: GroupingWriter;
  readonly reader: Pick<SqliteReader, 'all' | 'first' | 'run'>;
  head(): number;
  oldest(): number;
  /** Commits statements and keeps head and oldest up to date. */
  commit(statements: readonly Statement[]): Promise<void>;
  /** Stores events with numbers in `data.sends`, so that a test can tell them apart. */
  emit(count: number, options?: Partial<Pick<NewEvent, 'endpoint' | 'at' | 'actor'>>): Promise<void>;
  record(events: readonly NewEvent[]): Promise<void>;
  readonly file: string;
}

export function eventLog(t: Cleanup, folder?: string): EventLogFixture {
  const home = folder ?? mkdtempSync(join(tmpdir(), 'svc-events-'));
  const file = join(home, 'data.sqlite');
  const core = new WriterCore({ file, now: () => Date.now() });
  core.open();
  const writer = new GroupingWriter(inlineRunner(core));
  const reader = new SqliteReader(() => openReadOnly(file));
  const counter = (name: string): number =>
    Number(reader.run<{ value: number }>('SELECT value FROM counters WHERE name = ?', [name])[0]?.value);
  t.after(() => {
    reader.close();
    core.close();
    if (folder === undefined) rmSync(home, { recursive: true, force: true });
  });
  let made = counter('event');
  const commit = async (statements: readonly Statement[]): Promise<void> => {
    const answer = await writer.commit({ name: 'test', statements });
    if (answer.kind === 'refused') throw new Error(answer.detail);
  };
  const record = (events: readonly NewEvent[]): Promise<void> => commit(recordEvents(events));
  return {
    writer,
    reader,
    file,
    head: () => counter('event'),
    oldest: () => counter('event_oldest'),
    commit,
    record,
    emit(count, { endpoint, at = Date.now(), actor } = {}) {
      const events = Array.from({ length: count }, (): NewEvent => {
        made += 1;
        return {
          type: 'inbox.done',
          data: { item: `item-${made}`, attempts: 1, sends: made, durationMs: 0 },
          at,
          runtimeId: 'runtime',
          endpoint,
          actor,
        };
      });
      return record(events);
    },
  };
}

export interface GatewayFixture {
  readonly gateway: EventGateway;
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly counts: { gaps: string[]; slowClosed: number; clients: number; warnings: string[] };
}

/** Serves `/api/events` and upgrades `/api/ws`; the query `as=demo` gives demo scope. */
export async function serveEvents(
  t: Cleanup,
  log: EventLogFixture,
  options: Partial<EventGatewayOptions> & { clock?: Clock; epoch?: string; port?: number } = {},
): Promise<GatewayFixture> {
  const counts: GatewayFixture['counts'] = { gaps: [], slowClosed: 0, clients: 0, warnings: [] };
  const deps: EventDeps = {
    reader: log.reader,
    onHead: (listener) => log.writer.onHead(listener),
    head: () => log.head(),
    oldest: () => log.oldest(),
    epoch: options.epoch ?? EPOCH,
    projectId: 'project-1',
    clock: options.clock ?? systemClock,
    log: { warn: (_fields, message) => void counts.warnings.push(message) },
    metrics: {
      clients: (count) => void (counts.clients = count),
      gap: (reason) => void counts.gaps.push(reason),
      slowClosed: () => void (counts.slowClosed += 1),
    },
  };
  const gateway = createEventGateway(deps, options);
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const streamRequest: StreamRequest = {
      caller: callerOf(query),
      lastEventId: textOf(request.headers['last-event-id']) ?? query.get('lastEventId') ?? undefined,
      types: query.get('types') ?? undefined,
      endpoints: query.get('endpoints') ?? undefined,
      gap: gapOf(query.get('gap')),
    };
    gateway.stream(request, response, streamRequest).catch((error: unknown) => {
      const { status, code, message, details } = Object.assign(coerceError(error));
      response
        .writeHead(status, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ code, message, ...details }));
    });
  });
  server.on('upgrade', (request, socket, head) => {
    const caller = callerOf(new URL(request.url ?? '/', 'http://localhost').searchParams);
    gateway.upgrade(request, socket, head, caller).catch((error: unknown) => {
      socket.end(`HTTP/1.1 ${coerceError(error).status} Refused\r\nConnection: close\r\n\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  t.after(async () => {
    await gateway.drain();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { gateway, server, port, url: `http://127.0.0.1:${port}`, counts };
}

const callerOf = (query: URLSearchParams): StreamRequest['caller'] => ({
  scope: query.get('as') === 'demo' ? 'demo' : 'full',
  actor: `token:${query.get('name') ?? 'default'}`,
  requestId: 'r',
});
const gapOf = (text: string | null): StreamRequest['gap'] => (text === 'head' || text === 'fail' ? text : 'oldest');
const textOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);
