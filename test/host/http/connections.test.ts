// A flood of deliveries over open connections, and others that connect meanwhile: those are taken before the flood goes on.
import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { startHttp } from '../../support/http/http-server.ts';
import { until } from '../../support/until.ts';

const OPEN = 4;
const NEW = 100;
/** Some milliseconds of work. */
const ROUNDS = 5_000;
const DELIVERY =
  'POST /webhooks/a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

function open(context: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {}); // its end may be a reset
  socket.on('error', () => {});
  context.after(() => socket.destroy());
  return socket;
}

describe('connections in a flood', () => {
  it('are taken before the flood goes on', async (context) => {
    const { host, http, port } = await startHttp(context);
    let delivered = 0;
    host.deliveries.limit = () => 1_000;
    host.deliveries.deliver = async () => {
      pbkdf2Sync('work', 'salt', ROUNDS, 32, 'sha256');
      delivered += 1;
      return { status: 200 };
    };
    const taken: number[] = [];
    for (let n = 0; n < OPEN; n += 1) {
      const socket = open(context, port);
      socket.on('data', () => socket.write(DELIVERY)).write(DELIVERY);
    }
    await until(() => delivered > 10 * OPEN, { what: 'a flood' });
    http.server.on('connection', () => taken.push(delivered));
    for (let n = 0; n < NEW; n += 1) open(context, port);
    await until(() => taken.length === NEW, { what: 'all connections' });

    const between = (taken.at(-1) ?? 0) - (taken[0] ?? 0);
    assert.ok(between < NEW / 2, `${between} deliveries while ${NEW} connected`);
  });
});
