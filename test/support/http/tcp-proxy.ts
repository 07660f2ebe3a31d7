// A way to a server that can break: it carries bytes, and cuts, stops or resumes them when a test says so.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';

export interface TcpProxy {
  readonly port: number;
  /** Breaks what is open, without a word to either side's protocol. */
  cut(): void;
  /** Nothing goes from the server to the client any more, on what is open. */
  mute(): void;
  /** New connections are refused while true. */
  isDown: boolean;
}

export async function tcpProxy(t: Cleanup, port: number): Promise<TcpProxy> {
  const pairs = new Set<{ readonly client: Socket; readonly upstream: Socket; isMute: boolean }>();
  const state = { isDown: false };
  const server = createServer((client) => {
    if (state.isDown) return void client.destroy();
    const upstream = connect({ port, host: '127.0.0.1' });
    const pair = { client, upstream, isMute: false };
    pairs.add(pair);
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      if (!pair.isMute) client.write(chunk);
    });
    for (const one of [client, upstream]) {
      one.on('error', () => {});
      one.once('close', () => {
        client.destroy();
        upstream.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const { client, upstream } of pairs) {
      client.destroy();
      upstream.destroy();
    }
  };
  const mute = (): void => {
    for (const pair of pairs) pair.isMute = true;
  };
  t.after(() => {
    cut();
    server.close();
  });
  return Object.assign(state, { port: (server.address() as AddressInfo).port, cut, mute });
}
