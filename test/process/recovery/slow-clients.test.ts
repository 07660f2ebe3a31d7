// Slow requests and silent connections by the hundred, at the size and with the limits that hostile input 23 has. The host is a process of its
// own with its own defaults.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { tooFewFiles } from '../../support/disk/open-files.ts';
import { fairMs } from '../../support/fair-time.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { requestText, sendRaw } from '../../support/http/raw-http.ts';

const EACH = 500;
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const GRACE_MS = 1_000;
const HEALTH_MS = 100;
/** A timer of this process that came later says that the machine stood still. */
const LATE_MS = 20;

interface Ended {
  readonly text: string;
  readonly ms: number;
}

const portOf = ({ url }: RunningHost): number => Number(new URL(url).port);

/** Sends `first`, then `more` byte by byte, one a second, until the host ends the connection. */
async function slowly(port: number, first: string, more: string): Promise<Ended> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const startedAt = performance.now();
  socket.write(first);
  let [text, sent] = ['', 0];
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  const drip = setInterval(() => {
    if (sent < more.length) socket.write(more[sent] ?? '');
    sent += 1;
  }, 1_000);
  await once(socket, 'close');
  clearInterval(drip);
  return { text, ms: performance.now() - startedAt };
}

/** How long each request to /pub/health took, until `over`; those during which this process itself was held up are left out. */
async function healthTimes(port: number, over: () => boolean): Promise<readonly number[]> {
  const times: number[] = [];
  while (!over()) {
    const late = watch();
    const startedAt = performance.now();
    const { status } = await sendRaw(port, requestText('GET /pub/health'));
    const ms = performance.now() - startedAt;
    assert.equal(status, 200);
    if (late() <= LATE_MS) times.push(ms);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return times;
}

function watch(): () => number {
  let [at, latest] = [performance.now(), 0];
  const look = (): void => {
    latest = Math.max(latest, performance.now() - at - 5);
    at = performance.now();
  };
  const timer = setInterval(look, 5);
  return () => {
    clearInterval(timer);
    look();
    return latest;
  };
}

describe('slow and silent clients', () => {
  it('get 408 within their limit and a second, and others are served in time meanwhile', {
    skip: tooFewFiles(4 * EACH),
  }, async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {} } });
    const port = portOf(host);
    const head = requestText('PUT /api/system/ingress', [
      `Authorization: Bearer ${host.project.token}`,
      'Content-Type: application/json',
      'Content-Length: 5000',
    ]);
    const many = (first: string, more: string): Promise<Ended[]> =>
      Promise.all(Array.from({ length: EACH }, () => slowly(port, first, more)));
    const lateness = watch();
    let isOver = false;
    const all = Promise.all([
      many('', ''),
      many('G', requestText('GET /pub/health', ['X-A: b'.repeat(50)]).slice(1)),
      many(head, 'x'.repeat(5_000)),
    ]).finally(() => (isOver = true));
    const times = await healthTimes(port, () => isOver);
    const [silent, headers, bodies] = await all;
    const graceMs = GRACE_MS + lateness();

    for (const [name, ended, limitMs] of [
      ['silent', silent, HEADERS_MS],
      ['slow header', headers, HEADERS_MS],
      ['slow body', bodies, REQUEST_MS],
    ] as const) {
      const statuses = new Set(ended.map(({ text }) => text.slice(0, 13)));
      assert.deepEqual(statuses, new Set(['HTTP/1.1 408 ']), name);
      const latest = Math.max(...ended.map(({ ms }) => ms));
      const earliest = Math.min(...ended.map(({ ms }) => ms));
      t.diagnostic(`${name}: ended between ${Math.round(earliest)} and ${Math.round(latest)} ms`);
      assert.ok(earliest >= limitMs - GRACE_MS, `${name}: ${earliest} ms`);
      assert.ok(latest <= limitMs + graceMs, `${name}: ${latest} ms of ${limitMs + graceMs}`);
    }
    const sorted = times.toSorted((a, b) => a - b);
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
    t.diagnostic(`/pub/health: ${times.length} times, p99 ${Math.round(p99)} ms`);
    assert.ok(times.length > 100, `${times.length} times`);
    assert.ok(p99 < fairMs(HEALTH_MS), `p99 ${p99} ms`);
  });
});
