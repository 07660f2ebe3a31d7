// The file that `svc deploy init proxy` writes, served as its next commands say, with ports and certificate of the test in the place of the machine's.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deployFolder, runDeploy } from '../../../../support/commands/deploy-run.ts';
import { guideLines } from '../../../../support/deploy/guide-blocks.ts';
import { ToReady } from '../../../../support/deploy/to-ready.ts';
import { freePort } from '../../../../support/free-port.ts';
import type { Cleanup } from '../../../../support/temporary-project.ts';
import type { EdgeAddress } from './edge-client.ts';
import {
  type Certificate,
  caddyAround,
  environmentIn,
  nginxAround,
  type ProxyKind,
  serveProxy,
  temporaryFolder,
} from './machine-proxies.ts';

export interface WrittenProxyOptions {
  readonly kind: ProxyKind;
  /** Port of the host, or of what stands for it. */
  readonly upstream: number;
  readonly certificate: Certificate;
  /** Changes the written text, as an operator would. */
  readonly edit?: (text: string) => string;
}

export interface WrittenProxy {
  readonly edge: EdgeAddress;
  /** Without TLS, where everything is sent to TLS. */
  readonly plain: EdgeAddress;
  /** Until it listens. The last command of the guide asks through it. */
  readonly toReady: ToReady;
}

interface Places {
  readonly port: number;
  readonly plain: number;
  readonly certificate: Certificate;
}

type Swap = readonly [from: string, to: string];

/** What differs on the machine of a test. Each text has to be there once. */
const SWAPS: Readonly<Record<ProxyKind, (places: Places) => readonly Swap[]>> = {
  nginx: ({ port, plain, certificate: { cert, key } }) => [
    ['listen 80;', `listen 127.0.0.1:${plain};`],
    ['    listen [::]:80;\n', ''],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    ['    listen [::]:443 ssl http2;\n', ''],
    ['/etc/letsencrypt/live/localhost/fullchain.pem', cert],
    ['/etc/letsencrypt/live/localhost/privkey.pem', key],
  ],
  caddy: ({ port, certificate: { cert, key } }) => [
    ['\nlocalhost {\n', `\nhttps://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}\n`],
  ],
  haproxy: ({ port, plain, certificate: { pem } }) => [
    ['    log /dev/log local0\n    user haproxy\n    group haproxy\n    chroot /var/lib/haproxy\n', ''],
    ['    log global\n', ''],
    ['bind :80\n', `bind 127.0.0.1:${plain}\n`],
    ['    bind :::80 v6only\n', ''],
    ['    bind :::443 v6only ssl crt /etc/haproxy/certs/localhost.pem alpn h2,http/1.1\n', ''],
    ['bind :443 ssl crt /etc/haproxy/certs/localhost.pem', `bind 127.0.0.1:${port} ssl crt ${pem}`],
  ],
};

function swapped(text: string, swaps: readonly Swap[]): string {
  return swaps.reduce((now, [from, to]) => {
    assert.equal(now.split(from).length, 2, `the template has ${JSON.stringify(from)} once`);
    return now.replace(from, () => to);
  }, text);
}

export async function writtenProxy(
  t: Cleanup,
  { kind, upstream, certificate, edit = (text) => text }: WrittenProxyOptions,
): Promise<WrittenProxy> {
  const toReady = new ToReady(`proxy ${kind}`, 'a host and the package of the proxy');
  const project = deployFolder(t, { name: 'bot', config: `http:\n  token: \${HTTP_TOKEN}\n  port: ${upstream}\n` });
  const [init = '', ...guide] = guideLines('edge.md', kind);
  const { actions, next } = await toReady.typed([init], () => runDeploy(project, 'proxy', { kind, host: 'localhost' }));
  assert.deepEqual(
    next.map((line) => line.replace('localhost', 'bot.example')),
    guide,
  );
  const [port, plain] = [await freePort(), await freePort()];
  const file = join(project, Object.keys(actions)[0] ?? '');
  const text = swapped(edit(readFileSync(file, 'utf8')), SWAPS[kind]({ port, plain, certificate }));
  const folder = temporaryFolder(t);
  writeFileSync(file, kind === 'caddy' ? `${caddyAround(folder, { port, plain })}${text}` : text);
  const [copy = '', check = '', reload = ''] = next;
  await toReady.typed([copy], () => runCommand(copy, { project, folder, kind }));
  await toReady.typed([check], () => runCommand(check, { project, folder, kind }));
  assert.equal(reload, `sudo systemctl reload ${kind}`);
  await toReady.typed([reload], () => serveProxy({ kind, file: join(folder, 'etc', MAIN_FILES[kind]), folder, port }));
  return { edge: { port, ca: certificate.ca }, plain: { port: plain }, toReady };
}

/** What the program reads first, below /etc. */
const MAIN_FILES: Readonly<Record<ProxyKind, string>> = {
  nginx: 'nginx/nginx.conf',
  caddy: 'caddy/Caddyfile',
  haproxy: 'haproxy/haproxy.cfg',
};

/** Runs a command of `svc deploy init` with a folder of the test in the place of /etc. */
async function runCommand(
  command: string,
  { project, folder, kind }: { readonly project: string; readonly folder: string; readonly kind: ProxyKind },
): Promise<void> {
  const etc = join(folder, 'etc');
  mkdirSync(join(etc, kind, 'conf.d'), { recursive: true });
  if (kind === 'nginx')
    writeFileSync(join(etc, MAIN_FILES.nginx), nginxAround(folder, `include ${etc}/nginx/conf.d/*.conf;`));
  const here = command
    .replace(/^sudo /u, '')
    .replaceAll(' /etc/', ` ${etc}/`)
    .replace(/^nginx -t$/u, `nginx -t -e stderr -c ${join(etc, MAIN_FILES.nginx)}`);
  const [program = '', ...words] = here.split(' ');
  await promisify(execFile)(program, words, { cwd: project, env: environmentIn(folder) });
}

/** Takes the marks of comments off the allow list, and lets in that network alone. */
export const withAllowList =
  (network: string) =>
  (text: string): string =>
    text.replaceAll(/#> ?/gu, '').replaceAll('192.0.2.0/24', network);
