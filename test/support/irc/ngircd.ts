// A real IRC server from Debian's package ngircd, on a free port of the loopback address, gone with the test.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type DebianServer, debianServer, serverMissing } from '../accounts/debian-server.ts';
import { freePort } from '../free-port.ts';
import type { Cleanup } from '../temporary-project.ts';

/** Why tests with a real server cannot run here, or false. Throws where they have to run. */
export const ngircdMissing = (): string | false => serverMissing('ngircd');

export interface Ngircd extends DebianServer {
  readonly port: number;
}

export async function ngircd(t: Cleanup, name = 'irc.test.local'): Promise<Ngircd> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ngircd-'));
  const port = await freePort();
  const file = join(folder, 'ngircd.conf');
  const { username } = userInfo();
  writeFileSync(
    file,
    [
      '[Global]',
      `Name = ${name}`,
      'Info = test',
      'Listen = 127.0.0.1',
      `Ports = ${port}`,
      'MotdPhrase = hello',
      `ServerUID = ${username}`,
      `ServerGID = ${username}`,
    ]
      .concat([
        '[Limits]',
        'MaxConnectionsIP = 0',
        'MaxNickLength = 16',
        'PingTimeout = 120',
        '[Options]',
        'Ident = no',
        'PAM = no',
        'DNS = no',
        'SyslogFacility = local1',
        '',
      ])
      .join('\n'),
  );
  const server = await debianServer(t, { name: 'ngircd', args: ['-n', '-f', file], ports: [port], folder });
  return { port, ...server };
}
