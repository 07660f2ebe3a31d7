// Durable webhooks a second, against the same HTTP server that stores nothing and against the writer alone with the same units in groups
// of 64; and commands a second through inbox, plugin and outbox. Each round runs all of them; what is printed are medians and ratios.

import { fork } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRuntimeId } from '../../shared/identifiers.ts';
import { systemClock } from '../../shared/time/clock.ts';
import { parse } from '../../worker/adapters/webhook/parse.ts';
import { GroupCommit } from '../../worker/database/sqlite/group-commit.ts';
import { WriterCore } from '../../worker/database/sqlite/writer-core.ts';
import type { Unit } from '../../worker/database/unit.ts';
import { recordEvents } from '../../worker/events/event-history.ts';
import { prepareItem } from '../../worker/inbox/prepare-item.ts';
import { laneName } from '../../worker/lanes/lane-name.ts';
import { type ClosedLoopRequest, sendInTurn } from './load/closed-loop.ts';
import { KEY, median, percentile, signedDeliveries, startHost, TOKEN } from './load/support.ts';

const CONNECTIONS = 64;
const PADDING = 'x'.repeat(1_900);
/** Sent first: a host at work is measured, not V8 compiling it, and that start is a figure of its own. The baselines are warmed up as well. */
const WARM_UP = 9_984;

const padded = (count: number): readonly ClosedLoopRequest[] => signedDeliveries(count, () => PADDING);

export interface WebhookFigures {
  readonly durable: number;
  readonly bare: number;
  readonly writer: number;
  readonly p99: number;
  readonly commands: number;
  /** Of the first WARM_UP after the start. */
  readonly cold: { readonly durable: number; readonly commands: number };
}

export async function measureWebhooks(rounds: number, count: number): Promise<WebhookFigures> {
  const durable: number[] = [];
  const bare: number[] = [];
  const writer: number[] = [];
  const p99: number[] = [];
  const commands: number[] = [];
  const cold = { durable: [] as number[], commands: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await bareServer(count));
    writer.push(writerAlone(count));
    const host = await startHost(
      ['  webhook:', '    endpoints:', '      - id: a', '        secrets: ["${HOOK_SECRET}"]'],
      ['inbox:', '  maxPending: 1000000', '  maxPendingBytes: 1073741824'],
    );
    const load = { port: host.port, path: '/webhooks/webhook/a', connections: CONNECTIONS };
    cold.durable.push((await sendInTurn(load, padded(WARM_UP))).perSecond);
    const result = await sendInTurn(load, padded(count));
    if (result.failed > 0) throw new Error(`${result.failed} deliveries failed`);
    durable.push(result.perSecond);
    p99.push(percentile(result.latencies, 0.99));
    await host.stop();
    const { first, later } = await commandsPerSecond(Math.floor(count / 2));
    cold.commands.push(first);
    commands.push(later);
  }
  return {
    durable: median(durable),
    bare: median(bare),
    writer: median(writer),
    p99: median(p99),
    commands: median(commands),
    cold: { durable: median(cold.durable), commands: median(cold.commands) },
  };
}

/** Lines of the sandbox: from the first one taken in to the last answer that the outbox has as sent. */
async function commandsPerSecond(wanted: number): Promise<{ readonly first: number; readonly later: number }> {
  const count = wanted - (wanted % CONNECTIONS);
  const host = await startHost(
    ['  sandbox: {}', '  echo: {}'],
    ['inbox:', '  maxPending: 1000000', '  maxPendingBytes: 1073741824'],
  );
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };
  const lines = (many: number, name: string): readonly ClosedLoopRequest[] =>
    Array.from({ length: many }, (_, n) => ({
      body: Buffer.from(JSON.stringify({ person: `p${n % CONNECTIONS}`, text: `/echo ${n}`, delivery: `${name}${n}` })),
      headers,
    }));
  const sent = async (many: number): Promise<void> => {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${host.port}/api/outbox?state=sent&limit=1`, { headers });
      const { total } = (await answer.json()) as { total: number };
      if (total >= many) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const load = { port: host.port, path: '/api/chat/say', connections: CONNECTIONS };
  let before = 0;
  const perSecond = async (many: number, name: string): Promise<number> => {
    const wave = lines(many, name);
    const startedAt = performance.now();
    await sendInTurn(load, wave);
    before += many;
    await sent(before);
    return many / ((performance.now() - startedAt) / 1_000);
  };
  const first = await perSecond(WARM_UP, 'w');
  const later = await perSecond(count, 'd');
  await host.stop();
  return { first, later };
}

/** The same check of the same signature, in a process of its own, nothing stored. */
async function bareServer(count: number): Promise<number> {
  const child = fork(new URL(import.meta.url), ['bare', KEY.toString('base64')], { execArgv: process.execArgv });
  const [port] = (await once(child, 'message')) as [number];
  const load = { port, path: '/', connections: CONNECTIONS };
  await sendInTurn(load, padded(WARM_UP));
  const { perSecond } = await sendInTurn(load, padded(count));
  child.kill();
  return perSecond;
}

function serveBare(key: Buffer): void {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const wanted = createHmac('sha256', key)
        .update(`${request.headers['webhook-id']}.${request.headers['webhook-timestamp']}.`)
        .update(Buffer.concat(chunks))
        .digest();
      const given = Buffer.from(String(request.headers['webhook-signature']).slice(3), 'base64');
      response
        .writeHead(given.length === wanted.length && timingSafeEqual(given, wanted) ? 200 : 401, {
          'content-length': 14,
        })
        .end('{"accepted":1}');
    });
  }).listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' ? address?.port : 0);
  });
}

/** The units that the host commits for these deliveries, made before the clock runs. */
function writerAlone(count: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-writer-'));
  const core = new WriterCore({ file: join(folder, 'data.sqlite'), now: Date.now });
  const group = new GroupCommit(core.open());
  for (const units of inGroups(unitsOf(WARM_UP))) group.run(units);
  const groups = inGroups(unitsOf(count));
  const startedAt = performance.now();
  for (const units of groups) group.run(units);
  const perSecond = count / ((performance.now() - startedAt) / 1_000);
  core.close();
  rmSync(folder, { recursive: true, force: true });
  return perSecond;
}

function unitsOf(count: number): readonly Unit[] {
  const endpoint = 'root/webhook:webhook~a';
  const core = { runtimeId: newRuntimeId(), clock: systemClock };
  return padded(count).map(({ body, headers }) => {
    const request = { method: 'POST', path: '/webhooks/webhook/a', query: {}, headers, body, receivedAt: Date.now() };
    const [arrival] = parse(request);
    if (arrival === undefined) throw new Error('a delivery without an arrival');
    const payload = { kind: 'arrival', arrival } as const;
    const lane = laneName(endpoint, arrival.conversation.id, '');
    const item = prepareItem(core, { endpoint, deliveryId: arrival.id, payload, lane }, { passedBy: 1 });
    return { name: 'inbox.accept', statements: [item.insert, ...recordEvents(item.events)] };
  });
}

const inGroups = (units: readonly Unit[]): readonly (readonly Unit[])[] =>
  Array.from({ length: Math.ceil(units.length / 64) }, (_, n) => units.slice(n * 64, n * 64 + 64));

if (process.argv[2] === 'bare') serveBare(Buffer.from(process.argv[3] ?? '', 'base64'));
else if (process.argv[1] === new URL(import.meta.url).pathname) {
  const figures = await measureWebhooks(Number(process.argv[2] ?? 1), Number(process.argv[3] ?? 10_000));
  console.log(figures, { toWriter: figures.durable / figures.writer, toBare: figures.durable / figures.bare });
}
