// The proxies of Debian as programs on the loopback address: which are there, a certificate for localhost, and one process each.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeLive } from '../../../../support/disk/remove-live.ts';
import type { Cleanup } from '../../../../support/temporary-project.ts';
import { until } from '../../../../support/until.ts';
import { connects } from './edge-client.ts';

export const KINDS = ['caddy', 'nginx', 'haproxy'] as const;
export type ProxyKind = (typeof KINDS)[number];

const FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin'];
const programOf = (name: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** Why tests with these programs cannot run here, or false. Throws where they have to run. */
export function proxiesMissing(): string | false {
  const missing = [...KINDS, 'openssl'].filter((name) => programOf(name) === undefined);
  if (missing.length === 0) return false;
  const reason = `there is no ${missing.join(', ')}: apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (process.env['SVC_REQUIRE_PROXIES'] === '1') throw new Error(`SVC_REQUIRE_PROXIES=1, but ${reason}`);
  return reason;
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** Both in one file. */
  readonly pem: string;
  /** Text of the certificate, for clients that trust it. */
  readonly ca: string;
}

export function temporaryFolder(t: Cleanup): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-edge-'));
  const ends: End[] = [];
  endsOf.set(folder, ends);
  // Hooks run in the order in which they were made: proxies that write there end first.
  t.after(async () => {
    await Promise.all(ends.map((end) => end()));
    removeLive(folder);
  });
  return folder;
}

type End = () => Promise<void>;
/** Of the proxies by the folder that they write into. */
const endsOf = new Map<string, End[]>();

/** Of localhost, for two days. */
export function certificateIn(folder: string): Certificate {
  const [cert, key, pem] = ['cert.pem', 'key.pem', 'both.pem'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync(programOf('openssl') ?? '', ['req', '-x509', ...fresh, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const ca = readFileSync(cert, 'utf8');
  writeFileSync(pem, ca + readFileSync(key, 'utf8'));
  return { cert, key, pem, ca };
}

/** Words behind the program that serve a file. */
const WORDS: Readonly<Record<ProxyKind, (file: string) => readonly string[]>> = {
  nginx: (file) => ['-e', 'stderr', '-c', file],
  caddy: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  haproxy: (file) => ['-db', '-f', file],
};

/** Of the programs. Caddy would take every core of the machine. */
export const environmentIn = (folder: string): NodeJS.ProcessEnv => ({
  PATH: FOLDERS.join(':'),
  HOME: folder,
  GOMAXPROCS: '1',
});

export interface ServedProxy {
  readonly kind: ProxyKind;
  /** The whole configuration. */
  readonly file: string;
  /** Of `temporaryFolder`, for all that the program writes: it ends before that goes. */
  readonly folder: string;
  readonly port: number;
}

/** Serves until the end of the test. */
export async function serveProxy({ kind, file, folder, port }: ServedProxy): Promise<void> {
  const said: string[] = [];
  const started = spawn(programOf(kind) ?? kind, WORDS[kind](file), {
    cwd: folder,
    env: environmentIn(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [started.stdout, started.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => said.push(piece));
  endsOf.get(folder)?.push(() => ended(started, kind));
  await until(async () => started.exitCode !== null || (await connects(port)), { what: `${kind} to listen` });
  if (started.exitCode !== null) throw new Error(`${kind} ended with ${started.exitCode}:\n${said.join('')}`);
}

/** nginx has to end its worker itself. Caddy would wait for connections that are still open. */
function ended(child: ChildProcess, kind: ProxyKind): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(kind === 'nginx' ? 'SIGTERM' : 'SIGKILL');
  return gone;
}

/** What surrounds a file of /etc/nginx/conf.d. `gzip on` stands in the file that Debian ships. */
export const nginxAround = (folder: string, inner: string): string => `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/pid;
events { worker_connections 512; }
http {
    access_log off;
    gzip on;
    client_body_temp_path ${folder}/body;
    proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi;
    scgi_temp_path ${folder}/scgi;
${inner}
}
`;

/** Global options by which Caddy asks no authority for a certificate and keeps its files to the test. */
export const caddyAround = (folder: string, ports: { readonly plain: number; readonly port: number }): string => `{
	admin off
	http_port ${ports.plain}
	https_port ${ports.port}
	auto_https disable_certs
	storage file_system ${folder}
}
`;
