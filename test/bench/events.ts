// Event stream: deliveries a second to many clients, and how long a resume takes, each as a ratio to `res.write` of the
// same frames in the same run. Events are committed to a real database; the clients are a process of their own.
//
//   node --import tsx test/bench/events.ts
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { NewEvent } from '../../worker/events/event-types.ts';
import { readEvents } from '../../worker/events/log-window.ts';
import type { EventGatewayOptions } from '../../worker/events/stream/event-gateway.ts';
import { type EventRow, eventFrame, unwrapChunks } from '../../worker/events/stream/frame.ts';
import { EPOCH, type EventLogFixture, eventLog, serveEvents } from '../support/hosts/event-log.ts';
import type { Cleanup } from '../support/temporary-project.ts';
import type { FromClients, ToClients } from './load/stream-clients.ts';

export interface Measure {
  readonly name: string;
  readonly perSecond: number;
  readonly baselinePerSecond: number;
  readonly ratio: number;
  /** Least ratio that the project aims at; undefined where there is no goal. */
  readonly goal: number | undefined;
}

const SOURCE = { projectId: 'project-1', epoch: EPOCH };
const FRAME_PADDING = 'x'.repeat(560);
const DELIVERIES = 200_000;
/** As busy hosts group them; one at a time the disk alone would be measured. */
const EVENTS_PER_COMMIT = 10;
const RESUMED_EVENTS = 100_000;
const QUIET: Partial<EventGatewayOptions> = { heartbeatMs: 600_000 };

/** All measures, one after the other. */
export async function benchEvents(report: (measure: Measure) => void): Promise<void> {
  for (const [clients, goal] of [
    [100, undefined],
    [1_000, 0.8],
    [5_000, undefined],
  ] as const) {
    const events = Math.max(20, Math.round(DELIVERIES / clients));
    const raw = await inScope((scope) => rawDeliveries(scope, clients, events));
    const single = await inScope((scope) =>
      hubDeliveries(scope, { clients, events, options: { ...QUIET, batchBytes: 1 } }),
    );
    const joined = await inScope((scope) => hubDeliveries(scope, { clients, events, options: QUIET }));
    report(measureOf(`SSE to ${clients} clients, one frame a write`, single, { baseline: raw, goal }));
    report(measureOf(`SSE to ${clients} clients`, joined, { baseline: raw, goal }));
  }
  report(await inScope(benchResume));
}

async function rawDeliveries(scope: Cleanup, clients: number, events: number): Promise<number> {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    responses.push(response);
  });
  const port = await listen(scope, server);
  const crowd = await connected(scope, port, clients);
  const chunks = framesOf(await rowsOf(scope, events));
  const frames = chunks.map(unwrapChunks);
  return rateOf(crowd, { bytes: bytesOf(chunks) * clients, deliveries: clients * events }, async () => {
    for (const frame of frames) {
      for (const response of responses) response.write(frame);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
}

async function hubDeliveries(
  scope: Cleanup,
  {
    clients,
    events,
    options,
  }: { readonly clients: number; readonly events: number; readonly options: Partial<EventGatewayOptions> },
): Promise<number> {
  const log = eventLog(scope);
  const { port } = await serveEvents(scope, log, options);
  const crowd = await connected(scope, port, clients);
  const bytes = bytesOf(framesOf(await rowsOf(scope, events)));
  return rateOf(crowd, { bytes: bytes * clients, deliveries: clients * events }, async () => {
    for (let seq = 1; seq <= events; seq += EVENTS_PER_COMMIT) {
      await log.record(
        Array.from({ length: Math.min(EVENTS_PER_COMMIT, events - seq + 1) }, (_, index) => eventOf(seq + index)),
      );
    }
  });
}

async function benchResume(scope: Cleanup): Promise<Measure> {
  const log = eventLog(scope);
  const rows = await rowsOf(scope, RESUMED_EVENTS, log);
  const chunks = framesOf(rows);
  const bytes = bytesOf(chunks);
  const { port } = await serveEvents(scope, log, QUIET);
  const resumed = await resumeRate(scope, { port, bytes });

  const frames = chunks.map(unwrapChunks);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    void writeAll(response, frames); // the bench waits for the bytes to come
  });
  const raw = await resumeRate(scope, { port: await listen(scope, server), bytes });
  return measureOf(`resume of ${RESUMED_EVENTS} events`, resumed, { baseline: raw, goal: undefined });
}

async function resumeRate(
  scope: Cleanup,
  { port, bytes }: { readonly port: number; readonly bytes: number },
): Promise<number> {
  const crowd = crowdOf(scope);
  crowd.send({ kind: 'expect', bytes } satisfies ToClients);
  const startedAt = performance.now();
  crowd.send({ kind: 'connect', port, count: 1, path: '/api/events', lastEventId: `${EPOCH}.0` } satisfies ToClients);
  await told(crowd, 'done');
  return RESUMED_EVENTS / ((performance.now() - startedAt) / 1_000);
}

async function writeAll(response: ServerResponse, frames: readonly Buffer[]): Promise<void> {
  for (const frame of frames) {
    if (!response.write(frame)) await once(response, 'drain');
  }
}

async function rateOf(
  crowd: ChildProcess,
  { bytes, deliveries }: { readonly bytes: number; readonly deliveries: number },
  act: () => Promise<void>,
): Promise<number> {
  crowd.send({ kind: 'expect', bytes } satisfies ToClients);
  const done = told(crowd, 'done');
  const startedAt = performance.now();
  await act();
  await done;
  const perSecond = deliveries / ((performance.now() - startedAt) / 1_000);
  crowd.send({ kind: 'close' } satisfies ToClients);
  await told(crowd, 'closed');
  return perSecond;
}

const eventOf = (seq: number): NewEvent => ({
  type: 'inbox.received',
  at: 1_760_000_000_000,
  runtimeId: '0190f5a2-0000-7000-8000-000000000000',
  endpoint: 'root/irc:irc~libera',
  data: {
    item: `item-${String(seq).padStart(8, '0')}`,
    kind: 'arrival',
    delivery: 'd',
    lane: FRAME_PADDING,
    bytes: 100,
    sha256: 'd'.repeat(64),
  },
});

/** Rows as they come out of the log, so that both sides write the same bytes. */
async function rowsOf(
  scope: Cleanup,
  count: number,
  log: EventLogFixture = eventLog(scope),
): Promise<readonly EventRow[]> {
  for (let seq = 1; seq <= count; seq += 500) {
    await log.record(Array.from({ length: Math.min(500, count - seq + 1) }, (_, index) => eventOf(seq + index)));
  }
  return readEvents(log.reader, { after: 0, limit: count });
}

const framesOf = (rows: readonly EventRow[]): readonly Buffer[] =>
  rows.map((row) => eventFrame(row, { scope: 'full', wire: 'sse' }, SOURCE));
const bytesOf = (frames: readonly Buffer[]): number => frames.reduce((sum, frame) => sum + frame.length, 0);

async function listen(scope: Cleanup, server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function crowdOf(scope: Cleanup): ChildProcess {
  const child = fork(fileURLToPath(new URL('./load/stream-clients.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  scope.after(() => void child.kill());
  return child;
}

async function connected(scope: Cleanup, port: number, count: number): Promise<ChildProcess> {
  const crowd = crowdOf(scope);
  crowd.send({ kind: 'connect', port, count, path: '/api/events' } satisfies ToClients);
  await told(crowd, 'quiet');
  return crowd;
}

async function told(crowd: ChildProcess, kind: FromClients['kind']): Promise<void> {
  for (;;) {
    const [message] = (await once(crowd, 'message')) as [FromClients];
    if (message.kind === kind) return;
  }
}

function measureOf(
  name: string,
  perSecond: number,
  { baseline, goal }: { readonly baseline: number; readonly goal: number | undefined },
): Measure {
  return { name, perSecond, baselinePerSecond: baseline, ratio: perSecond / baseline, goal };
}

async function inScope<T>(run: (scope: Cleanup) => Promise<T>): Promise<T> {
  const cleanups: (() => void | Promise<void>)[] = [];
  try {
    return await run({ after: (cleanup) => void cleanups.push(cleanup) });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await benchEvents(({ name, perSecond, baselinePerSecond, ratio, goal }) => {
    const aim = goal === undefined ? '' : ratio >= goal ? ` (goal ${goal}: met)` : ` (goal ${goal}: MISSED)`;
    console.log(
      `${name}: ${Math.round(perSecond)}/s, raw ${Math.round(baselinePerSecond)}/s, ratio ${ratio.toFixed(2)}${aim}`,
    );
  });
}
