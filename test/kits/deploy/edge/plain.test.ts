// The three proxies with the few lines that people copy: `svc doctor --edge` names what each of them does wrong, and nothing else.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../../support/free-port.ts';
import { type EdgeHost, edgeHost, foundByDoctor } from './kit/edge-host.ts';
import {
  type Certificate,
  caddyAround,
  certificateIn,
  nginxAround,
  type ProxyKind,
  proxiesMissing,
  serveProxy,
  temporaryFolder,
} from './kit/machine-proxies.ts';

interface Facts {
  readonly folder: string;
  readonly port: number;
  readonly plain: number;
  readonly upstream: number;
  readonly certificate: Certificate;
}

const nginx =
  (more: string) =>
  ({ folder, port, upstream, certificate: { cert, key } }: Facts): string =>
    nginxAround(
      folder,
      `server {
  listen 127.0.0.1:${port} ssl;
  ssl_certificate ${cert};
  ssl_certificate_key ${key};
  location / { proxy_pass http://127.0.0.1:${upstream}; ${more} }
}`,
    );

const caddy =
  (more: string) =>
  ({ folder, port, plain, upstream, certificate: { cert, key } }: Facts): string =>
    `${caddyAround(folder, { port, plain })}https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}\n\t${more}\n\treverse_proxy 127.0.0.1:${upstream}\n}\n`;

const haproxy =
  (more: string) =>
  ({ port, upstream, certificate: { pem } }: Facts): string =>
    `defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s
frontend edge
    bind 127.0.0.1:${port} ssl crt ${pem}
    option forwardfor
    ${more}
    default_backend host
backend host
    server host 127.0.0.1:${upstream}
`;

interface Case {
  readonly title: string;
  readonly kind: ProxyKind;
  readonly text: (facts: Facts) => string;
  readonly idleSeconds?: number;
  /** By id: the status, and what the reason says. */
  readonly finds: Readonly<Record<string, RegExp>>;
}

const FORGED = /^error: .*believes an address that a client wrote/u;
const CASES: readonly Case[] = [
  {
    title: 'nginx: no upgrade, forged addresses, 1 MB',
    kind: 'nginx',
    text: nginx(''),
    finds: {
      'edge.body': /^warn: the proxy refuses a body of 27262976 bytes/u,
      'edge.websocket': /^error: an upgrade is answered with 426/u,
      'edge.forwarded': FORGED,
    },
  },
  {
    title: 'nginx: addresses appended, a time-out below the heartbeat',
    kind: 'nginx',
    text: nginx(
      'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; client_max_body_size 0; proxy_read_timeout 5s;',
    ),
    idleSeconds: 12,
    finds: {
      'edge.websocket': /^error/u,
      'edge.forwarded': FORGED,
      'edge.idle': /^error: a stream without events ended after \d+ s, with a heartbeat each 15 s/u,
    },
  },
  { title: 'caddy: nothing', kind: 'caddy', text: caddy(''), finds: {} },
  { title: 'caddy with encode gzip: nothing', kind: 'caddy', text: caddy('encode gzip'), finds: {} },
  { title: 'HAProxy: addresses appended', kind: 'haproxy', text: haproxy(''), finds: { 'edge.forwarded': FORGED } },
  {
    title: 'HAProxy: a token taken away',
    kind: 'haproxy',
    text: haproxy('http-request del-header Authorization'),
    finds: {
      'edge.auth': /^error: the host got no token/u,
      'edge.body': /^error/u,
      'edge.stream': /^error/u,
      'edge.websocket': /^error: an upgrade is answered with 401/u,
      'edge.forwarded': /^error: an echo answered with 401/u,
    },
  },
];

describe('svc doctor --edge behind a plain proxy', { skip: proxiesMissing(), timeout: 600_000, concurrency: 3 }, () => {
  const closing: (() => void | Promise<void>)[] = [];
  const cleanup = { after: (close: () => void | Promise<void>): void => void closing.unshift(close) };
  let certificate: Certificate;
  let host: EdgeHost;
  before(async () => {
    certificate = certificateIn(temporaryFolder(cleanup));
    host = await edgeHost(cleanup);
  });
  after(async () => {
    for (const close of closing) await close();
  });

  for (const { title, kind, text, idleSeconds, finds } of CASES)
    it(`finds with ${title}`, async () => {
      const [port, plain] = [await freePort(), await freePort()];
      const folder = temporaryFolder(cleanup);
      const file = join(folder, 'configuration');
      writeFileSync(file, text({ folder, port, plain, upstream: host.port, certificate }));
      await serveProxy({ kind, file, folder, port });
      const asked = { edge: { port }, certificate, ...(idleSeconds === undefined ? {} : { idleSeconds }) };
      const found = await foundByDoctor(host, asked, Object.keys(finds));

      assert.deepEqual(found.map(({ id }) => id).toSorted(), Object.keys(finds).toSorted());
      for (const { id, status, reason } of found) assert.match(`${status}: ${reason}`, finds[id] ?? /^$/u);
    });
});
