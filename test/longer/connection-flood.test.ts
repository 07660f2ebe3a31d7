// A flood of connections over the cap of a host that is a process of its own: hostile input 24 at its size.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { eachWithin } from '../support/fair-time.ts';
import { tooFewFiles } from '../support/open-files.ts';
import { requestText, sendRaw } from '../support/raw-http.ts';
import { runningHost } from '../support/running-host.ts';
import { until } from '../support/until.ts';

const CONNECTIONS = 2_000;
const FLOOD = 20_000;
const AT_ONCE = 200;
const RECOVERY_MS = 5_000;

describe('a flood of connections', () => {
  it('of 20,000 is closed above the cap, and the host has recovered within five seconds (row 24)', {
    skip: tooFewFiles(2 * CONNECTIONS),
  }, async (t) => {
    const host = await runningHost(t, {
      plugins: { sandbox: {} },
      http: { limits: { connections: CONNECTIONS } },
    });
    const port = Number(new URL(host.url).port);
    const open = new Set<Socket>();
    t.after(() => open.forEach((socket) => socket.destroy()));
    const waits: (() => void)[] = [];
    let closed = 0;
    /** Connects, and holds what stays open. */
    const begin = (): void => {
      const socket = connect(port, '127.0.0.1');
      open.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          open.delete(socket);
          closed += 1;
          waits.shift()?.();
        })
        .resume();
    };

    await eachWithin({ limitMs: RECOVERY_MS, count: 1 }, async () => {
      closed = 0;
      for (let n = 0; n < FLOOD; n += 1) {
        begin();
        if (open.size >= CONNECTIONS + AT_ONCE) await new Promise<void>((resolve) => waits.push(resolve));
      }
      await until(() => closed >= FLOOD - CONNECTIONS, { what: 'all above the cap to be closed', timeoutMs: 120_000 });
      assert.ok(open.size > CONNECTIONS * 0.9, `${open.size} are open: the cap was reached`);
      return async () => {
        const startedAt = performance.now();
        open.forEach((socket) => socket.destroy());
        await until(async () => (await sendRaw(port, requestText('GET /pub/health'))).status === 200, {
          what: 'it serves again',
        });
        return performance.now() - startedAt;
      };
    });

    await until(async () => (await fetch(`${host.url}pub/ready`)).status === 200, { what: 'the host to be ready' });
    assert.doesNotMatch(host.output(), /"level":"(?:error|fatal)"/);
  });
});
