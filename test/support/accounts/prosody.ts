// A real XMPP server from Debian's package prosody, on free ports of the loopback address, gone with the test.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { selfSigned } from '../http/self-signed.ts';
import type { Cleanup } from '../temporary-project.ts';
import { type DebianServer, debianServer, serverMissing } from './debian-server.ts';

/** Why tests with a real server cannot run here, or false. Throws where they have to run. */
export const prosodyMissing = (): string | false => serverMissing('prosody');

export interface Prosody extends DebianServer {
  /** Plain, or with STARTTLS. */
  readonly port: number;
  readonly directTlsPort: number;
  /** Of the upload service. */
  readonly httpPort: number;
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

  const server = await debianServer(t, {
    name: 'prosody',
    args: ['-F', '--config', file],
    ports: [port, directTlsPort, httpPort],
    folder,
  });
  const log = (): string => readFileSync(join(folder, 'log'), 'utf8');
  return { ...server, port, directTlsPort, httpPort, user, log };
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
