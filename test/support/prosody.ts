// A real XMPP server from Debian's package prosody, on free ports of the loopback address, gone with the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { selfSigned } from './self-signed.ts';
import type { Cleanup } from './temporary-project.ts';
import { until } from './until.ts';

const BINARY = ['/usr/bin/prosody', '/usr/local/bin/prosody', '/opt/homebrew/bin/prosody'].find((path) =>
  existsSync(path),
);

/** Why tests with a real server cannot run here, or false. Throws where they have to run. */
export function prosodyMissing(): string | false {
  if (BINARY !== undefined) return false;
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (process.env['SVC_REQUIRE_PROSODY'] === '1')
    throw new Error('SVC_REQUIRE_PROSODY=1, but there is no prosody: apt-get install -y prosody');
  return 'there is no prosody on this machine: apt-get install -y prosody';
}

export interface Prosody {
  /** Plain, or with STARTTLS. */
  readonly port: number;
  readonly directTlsPort: number;
  /** Of the upload service. */
  readonly httpPort: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** The same server on the same ports, with what it has stored. */
  start(): Promise<void>;
  /** Makes an account, or gives it another password; works while the server runs. */
  user(name: string, password?: string): void;
  log(): string;
}

export interface ProsodyOptions {
  readonly users?: readonly string[];
  /** Left out: both with archives, rooms that keep one, resumption for a minute. */
  readonly modules?: readonly string[];
  /** More lines of the configuration of the host. */
  readonly lines?: readonly string[];
}

/** The password of a user that was given none. */
export const passwordOf = (name: string): string => `pw-${name}`;
const MODULES = ['smacks', 'mam'];

/** Hosts: localhost (accounts), rooms.localhost (rooms with archives), plain.localhost (rooms without), upload.localhost. */
export async function prosody(
  t: Cleanup,
  { users = ['bot', 'ann', 'bob'], modules = MODULES, lines = [] }: ProsodyOptions = {},
): Promise<Prosody> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-prosody-'));
  const [port, directTlsPort, httpPort] = [await freePort(), await freePort(), await freePort()];
  const file = join(folder, 'prosody.cfg.lua');
  const { key, cert } = selfSigned('localhost');
  for (const name of ['certs', 'data', 'data/localhost', 'data/localhost/accounts']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'certs', 'localhost.key'), key);
  writeFileSync(join(folder, 'certs', 'localhost.crt'), cert);
  const user = (name: string, password = passwordOf(name)): void =>
    writeFileSync(
      join(folder, 'data', 'localhost', 'accounts', `${name}.dat`),
      `return { ["password"] = ${JSON.stringify(password)}; };\n`,
    );
  for (const name of users) user(name);
  writeFileSync(file, configOf({ folder, port, directTlsPort, httpPort, modules, lines }));

  let server: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    const running = server;
    server = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await gone;
  };
  const start = async (): Promise<void> => {
    const said: string[] = [];
    const started = spawn(BINARY ?? 'prosody', ['-F', '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    server = started;
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
    const ports = [port, directTlsPort, httpPort];
    await until(async () => started.exitCode === null && (await Promise.all(ports.map(accepts))).every(Boolean), {
      what: 'prosody to listen',
    }).catch((error: unknown) => {
      throw new Error(`prosody did not start:\n${said.join('')}`, { cause: error });
    });
  };
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  const log = (): string => readFileSync(join(folder, 'log'), 'utf8');
  return { port, directTlsPort, httpPort, kill: stop, start, user, log };
}

interface Settings extends Required<Pick<ProsodyOptions, 'modules' | 'lines'>> {
  readonly folder: string;
  readonly port: number;
  readonly directTlsPort: number;
  readonly httpPort: number;
}

const configOf = ({ folder, port, directTlsPort, httpPort, modules, lines }: Settings): string =>
  [
    'run_as_root = true',
    `pidfile = "${folder}/prosody.pid"`,
    `data_path = "${folder}/data"`,
    `certificates = "${folder}/certs"`,
    `log = { { levels = { min = "debug" }, to = "file", filename = "${folder}/log" } }`,
    'interfaces = { "127.0.0.1" }',
    'local_interfaces = { "127.0.0.1" }',
    `c2s_ports = { ${port} }`,
    `c2s_direct_tls_ports = { ${directTlsPort} }`,
    `http_ports = { ${httpPort} }`,
    's2s_ports = {}',
    'https_ports = {}',
    'http_default_host = "upload.localhost"',
    `http_external_url = "http://127.0.0.1:${httpPort}/"`,
    'c2s_require_encryption = false',
    // People of the tests speak plainly; the adapter does not.
    'allow_unencrypted_plain_auth = true',
    'authentication = "internal_plain"',
    'storage = "internal"',
    `modules_enabled = { "roster", "saslauth", "tls", "disco", "ping", "offline", ${modules.map((one) => `"${one}"`).join(', ')} }`,
    'modules_disabled = { "s2s" }',
    'default_archive_policy = true',
    'archive_expires_after = "never"',
    'smacks_hibernation_time = 60',
    ...lines,
    'VirtualHost "localhost"',
    'disco_items = { { "upload.localhost", "files" } }',
    'Component "rooms.localhost" "muc"',
    'modules_enabled = { "muc_mam" }',
    'muc_log_by_default = true',
    'Component "plain.localhost" "muc"',
    'Component "upload.localhost" "http_file_share"',
    'http_file_share_size_limit = 100000',
    '',
  ].join('\n');

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
