// Servers of the loopback address over TLS, as real platforms are reached: whoever trusts the certificate of a test meets the same server there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import type { Cleanup } from '../temporary-project.ts';
import { selfSigned } from './self-signed.ts';

const ADDRESS = /^(http|ws):\/\/127\.0\.0\.1:(\d+)/;

export class TlsFronts {
  /** Of a process that trusts them. */
  readonly env: { readonly NODE_EXTRA_CA_CERTS: string };
  readonly #t: Cleanup;
  readonly #certificate = selfSigned();
  readonly #ports = new Map<number, Promise<number>>();

  constructor(t: Cleanup) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-ca-'));
    t.after(() => rmSync(folder, { recursive: true }));
    this.env = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
    writeFileSync(this.env.NODE_EXTRA_CA_CERTS, this.#certificate.cert);
    this.#t = t;
  }

  /** The same address over TLS; what is none of the loopback address stays. */
  async address(url: string): Promise<string> {
    const [plain, scheme, port] = ADDRESS.exec(url) ?? [];
    return plain === undefined ? url : url.replace(plain, `${scheme}s://127.0.0.1:${await this.port(Number(port))}`);
  }

  port(plain: number): Promise<number> {
    const known = this.#ports.get(plain) ?? this.#open(plain);
    this.#ports.set(plain, known);
    return known;
  }

  async #open(plain: number): Promise<number> {
    const open = new Set<TLSSocket>();
    const server = createServer({ ...this.#certificate }, (socket) => {
      const inner = connect(plain, '127.0.0.1');
      open.add(socket);
      for (const [from, to] of [
        [socket, inner],
        [inner, socket],
      ] as const) {
        from.on('error', () => to.destroy());
        from.once('close', () => to.destroy());
        from.pipe(to);
      }
      socket.once('close', () => open.delete(socket));
    });
    server.on('tlsClientError', () => {}); // of who trusts it not
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#t.after(() => {
      server.close();
      for (const socket of open) socket.destroy();
    });
    return (server.address() as AddressInfo).port;
  }
}
