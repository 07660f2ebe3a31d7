// Durable webhooks a second, against the same HTTP server that stores nothing and against the writer alone in groups of 64; and
// commands a second through inbox, plugin and outbox. Each round runs all of them; what is printed are medians and ratios.

import { fork } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GroupCommit } from '../../worker/database/group-commit.ts';
import { WriterCore } from '../../worker/database/writer-core.ts';
import { recordEvents } from '../../worker/events/event-history.ts';
import { receiveItem } from '../../worker/inbox/inbox-store.ts';
import { type ClosedLoopRequest, sendInTurn } from './closed-loop.ts';
import { KEY, median, percentile, signedDeliveries, startHost, TOKEN } from './support.ts';

const CONNECTIONS = 64;
const PADDING = 'x'.repeat(1_900);
/** Sent before the clock runs: what is measured is a host at work, not V8 compiling it. The baselines are warmed up as well. */
const WARM_UP = 2_000;

const padded = (count: number): readonly ClosedLoopRequest[] => signedDeliveries(count, () => PADDING);

export interface WebhookFigures {
  readonly durable: number;
  readonly bare: number;
  readonly writer: number;
  readonly p99: number;
  readonly commands: number;
}

export async function measureWebhooks(rounds: number, count: number): Promise<WebhookFigures> {
  const durable: number[] = [];
  const bare: number[] = [];
  const writer: number[] = [];
  const p99: number[] = [];
  const commands: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await bareServer(count));
    writer.push(writerAlone(count));
    const host = await startHost(
      ['  webhook:', '    endpoints:', '      - id: a', '        secrets: ["${HOOK_SECRET}"]'],
      ['inbox:', '  maxPending: 1000000', '  maxPendingBytes: 1073741824'],
    );
    const load = { port: host.port, path: '/webhooks/webhook/a', connections: CONNECTIONS };
    await sendInTurn(load, padded(WARM_UP));
    const result = await sendInTurn(load, padded(count));
    if (result.failed > 0) throw new Error(`${result.failed} deliveries failed`);
    durable.push(result.perSecond);
    p99.push(percentile(result.latencies, 0.99));
    await host.stop();
    commands.push(await commandsPerSecond(Math.floor(count / 2)));
  }
  return {
    durable: median(durable),
    bare: median(bare),
    writer: median(writer),
    p99: median(p99),
    commands: median(commands),
  };
}

/** Lines of the sandbox: from the first one taken in to the last answer that the outbox has as sent. */
async function commandsPerSecond(wanted: number): Promise<number> {
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
  const warmUp = WARM_UP - (WARM_UP % CONNECTIONS);
  const load = { port: host.port, path: '/api/chat/say', connections: CONNECTIONS };
  await sendInTurn(load, lines(warmUp, 'w'));
  await sent(warmUp);
  const wave = lines(count, 'd');
  const startedAt = performance.now();
  await sendInTurn(load, wave);
  await sent(warmUp + count);
  const perSecond = count / ((performance.now() - startedAt) / 1_000);
  await host.stop();
  return perSecond;
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

function writerAlone(count: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-writer-'));
  const core = new WriterCore({ file: join(folder, 'data.sqlite'), now: Date.now });
  const group = new GroupCommit(core.open());
  const body = JSON.stringify({ kind: 'arrival', text: PADDING });
  const unit = (n: number) => {
    const id = `item-${n}`;
    const insert = receiveItem({
      id,
      endpoint: 'root/webhook:webhook~a',
      delivery_id: id,
      weak: 0,
      kind: 'arrival',
      lane: `c${n % 64}`,
      capability: null,
      payload_version: 1,
      body,
      sha256: id,
      bytes: body.length,
      received_at: n,
      state: 'received',
      attempts: 0,
      next_at: null,
      last_error: null,
      done_at: null,
      actor: null,
      correlation_id: id,
      causation_id: null,
      operator_changes: 0,
    });
    const event = {
      type: 'inbox.received',
      at: n,
      runtimeId: 'bench',
      data: { item: id, kind: 'arrival', delivery: id, lane: 'c', bytes: body.length, sha256: id },
    } as const;
    return { name: 'inbox.accept', statements: [insert, ...recordEvents([event])] };
  };
  const run = (from: number): unknown => group.run(Array.from({ length: 64 }, (_, i) => unit(from + i)));
  for (let n = -WARM_UP; n < 0; n += 64) run(n - 64);
  const startedAt = performance.now();
  for (let n = 0; n < count; n += 64) run(n);
  const perSecond = count / ((performance.now() - startedAt) / 1_000);
  core.close();
  rmSync(folder, { recursive: true, force: true });
  return perSecond;
}

if (process.argv[2] === 'bare') serveBare(Buffer.from(process.argv[3] ?? '', 'base64'));
else if (process.argv[1] === new URL(import.meta.url).pathname) {
  const figures = await measureWebhooks(Number(process.argv[2] ?? 1), Number(process.argv[3] ?? 10_000));
  console.log(figures, { toWriter: figures.durable / figures.writer, toBare: figures.durable / figures.bare });
}
