// A flood of connections over the cap of a host that is a process of its own: hostile input 24 at its size.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { tooFewFiles } from '../../support/disk/open-files.ts';
import { runningHost } from '../../support/hosts/running-host.ts';
import { requestText, sendRaw } from '../../support/http/raw-http.ts';
import { until } from '../../support/until.ts';

const CONNECTIONS = 2_000;
/** Of them so many may stand without having asked for anything. */
const SILENT = CONNECTIONS / 4;
const FLOOD = 20_000;
const AT_ONCE = 200;

describe('a flood of connections', () => {
  it('of 20,000 is closed above the cap, and the host serves again when it is over', {
    skip: tooFewFiles(2 * CONNECTIONS),
  }, async (t) => {
    const host = await runningHost(t, {
      plugins: { sandbox: {} },
      http: { limits: { connections: CONNECTIONS } },
    });
    const port = Number(new URL(host.url).port);
    const open = new Set<Socket>();
    t.after(() => open.forEach((socket) => socket.destroy()));
    const connecting = new Set<Socket>();
    let turn = (): void => {};
    let refused = 0;
    /**
     * Connects, and holds what stays open. Few connect at once: what finds the kernel's queue of the listener full is tried again after 1, 3, 7, ...
     * seconds, and the host ends silent connections after 10 s, with a 408; one above the cap is closed without a byte.
     */
    const begin = (): void => {
      const socket = connect(port, '127.0.0.1');
      open.add(socket);
      connecting.add(socket);
      const connected = (): void => {
        connecting.delete(socket);
        turn();
      };
      socket
        .on('error', () => {})
        .on('connect', connected)
        .on('close', () => {
          open.delete(socket);
          if (socket.bytesRead === 0) refused += 1;
          connected();
        })
        .resume();
    };

    for (let n = 0; n < FLOOD; n += 1) {
      begin();
      while (connecting.size >= AT_ONCE) await new Promise<void>((resolve) => (turn = resolve));
    }
    await until(() => connecting.size === 0 && open.size <= CONNECTIONS, { what: 'all above the cap to be closed' });
    assert.ok(FLOOD - refused > SILENT * 0.9, `${FLOOD - refused} were let in: the cap was reached`);
    open.forEach((socket) => socket.destroy());
    await until(async () => (await sendRaw(port, requestText('GET /pub/health'))).status === 200, {
      what: 'it serves again',
    });

    await until(async () => (await fetch(`${host.url}pub/ready`)).status === 200, { what: 'the host to be ready' });
    assert.doesNotMatch(host.output(), /"level":"(?:error|fatal)"/);
  });
});
