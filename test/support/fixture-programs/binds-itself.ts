// A worker of a version that knows of no held socket: it names no capability `listen`, and binds the address of BIND_PORT once it is welcome.
import { createServer } from 'node:net';
import { hello, obey, onMessage, tell } from '../process/fixture-worker.ts';

const port = Number(process.env['BIND_PORT']);

hello();
obey();
onMessage('welcome', () => {
  createServer((client) => client.end('hello')).listen(port, '127.0.0.1', () => {
    tell({ type: 'up', host: '127.0.0.1', port });
    tell({ type: 'ready', ready: true, generation: 1, reasons: [] });
    setInterval(() => tell({ type: 'heartbeat' }), 50);
  });
});
