// Stands between a client and a server of a protocol on a plain socket and keeps what either writes. The two streams run side by side, so that
// each is recorded by itself.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';

export interface Streams {
  readonly port: number;
  readonly written: { readonly client: string; readonly platform: string };
}

export async function streamsOf(t: Cleanup, upstream: number): Promise<Streams> {
  const written = { client: '', platform: '' };
  const proxy = createServer((client) => {
    const platform = connect(upstream, '127.0.0.1');
    for (const [from, one, other] of [
      ['client', client, platform],
      ['platform', platform, client],
    ] as const)
      one
        .on('data', (chunk: Buffer) => {
          written[from] += chunk.toString('utf8');
          other.write(chunk);
        })
        .on('error', () => {})
        .on('close', () => other.destroy());
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  t.after(() => void proxy.close());
  return { port: (proxy.address() as AddressInfo).port, written };
}
