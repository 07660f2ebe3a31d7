// Slow requests and silent connections by the hundred, at the size and with the limits that hostile input 23 has. The host is a process of its
// own with its own defaults.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { tooFewFiles } from '../../support/disk/open-files.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { requestText, sendRaw } from '../../support/http/raw-http.ts';

const EACH = 500;

const portOf = ({ url }: RunningHost): number => Number(new URL(url).port);

/** Sends `first`, then `more` byte by byte, one a second, until the host ends the connection; what it said. */
async function slowly(port: number, first: string, more: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  socket.write(first);
  let [text, sent] = ['', 0];
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  const drip = setInterval(() => {
    if (sent < more.length) socket.write(more[sent] ?? '');
    sent += 1;
  }, 1_000);
  await once(socket, 'close');
  clearInterval(drip);
  return text;
}

/** How many requests to /pub/health were answered until `over`; each with 200. */
async function answered(port: number, over: () => boolean): Promise<number> {
  let count = 0;
  for (; !over(); count += 1) {
    assert.equal((await sendRaw(port, requestText('GET /pub/health'))).status, 200);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return count;
}

describe('slow and silent clients', () => {
  it('get 408, and others are served meanwhile', { skip: tooFewFiles(4 * EACH) }, async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {} } });
    const port = portOf(host);
    const head = requestText('PUT /api/system/ingress', [
      `Authorization: Bearer ${host.project.token}`,
      'Content-Type: application/json',
      'Content-Length: 5000',
    ]);
    const many = (first: string, more: string): Promise<string[]> =>
      Promise.all(Array.from({ length: EACH }, () => slowly(port, first, more)));
    const ended: string[] = [];
    const note = (name: string) => (texts: readonly string[]) => {
      ended.push(name);
      assert.deepEqual(new Set(texts.map((text) => text.slice(0, 13))), new Set(['HTTP/1.1 408 ']), name);
    };
    const silent = many('', '').then(note('silent'));
    const headers = many('G', requestText('GET /pub/health', ['X-A: b'.repeat(50)]).slice(1)).then(note('slow header'));
    const bodies = many(head, 'x'.repeat(5_000)).then(note('slow body'));
    const all = Promise.all([silent, headers, bodies]);

    const count = await answered(port, () => ended.length === 3);
    await all;

    t.diagnostic(`/pub/health: ${count} answers`);
    assert.ok(count > 0);
  });
});
