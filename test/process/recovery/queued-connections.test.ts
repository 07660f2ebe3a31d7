// Connections that come while the host does not accept any, as in a long drain or under a debugger: they wait, and none is late.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { tooFewFiles } from '../../support/disk/open-files.ts';
import { runningHost } from '../../support/hosts/running-host.ts';
import { requestText } from '../../support/http/raw-http.ts';
import { until } from '../../support/until.ts';

const CONNECTIONS = 2_000;

describe('connections while nobody accepts', () => {
  it('are taken into the queue, 2,000 of them, and each is answered', {
    skip: tooFewFiles(2 * CONNECTIONS) || queueTooShort(),
  }, async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {} } });
    const port = Number(new URL(host.url).port);
    const sockets: Socket[] = [];
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    let connected = 0;
    let answered = 0;

    process.kill(host.pid(), 'SIGSTOP');
    for (let n = 0; n < CONNECTIONS; n += 1) {
      const socket = connect(port, '127.0.0.1', () => {
        connected += 1;
        socket.write(requestText('GET /pub/health'));
      });
      socket
        .on('error', () => {})
        .once('data', (bytes: Buffer) => {
          if (bytes.toString().startsWith('HTTP/1.1 200')) answered += 1;
        });
      sockets.push(socket);
    }
    await until(() => connected === CONNECTIONS, { what: 'all to be connected' });
    // A client is connected before the listener has counted it.
    await until(() => queued(port) === CONNECTIONS, { what: 'all to wait in the queue' });

    process.kill(host.pid(), 'SIGCONT');
    await until(() => answered === CONNECTIONS, { what: 'all to be answered' });
  });
});

/** Connections that wait to be accepted, which the kernel counts where other sockets have the bytes to be read. */
function queued(port: number): number | undefined {
  const [, ...sockets] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n');
  const rows = sockets.map((line) => line.trim().split(/\s+/));
  const row = rows.find(([, local = '', , state]) => state === LISTENING && local.endsWith(`:${hex(port)}`));
  return row === undefined ? undefined : Number.parseInt(row[4]?.split(':')[1] ?? '', 16);
}

const LISTENING = '0A';
const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

function queueTooShort(): string | false {
  try {
    const most = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
    return most < CONNECTIONS && `net.core.somaxconn is ${most} here, under ${CONNECTIONS}`;
  } catch {
    return 'the queue of a listener is read from /proc, as on Linux';
  }
}
