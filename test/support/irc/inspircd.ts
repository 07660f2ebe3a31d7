// A real IRC server from Debian's package inspircd, on a free port of the loopback address, gone with the test.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DebianServer, debianServer, serverMissing } from '../accounts/debian-server.ts';
import { freePort } from '../free-port.ts';
import type { Cleanup } from '../temporary-project.ts';

/** Why tests with a real server cannot run here, or false. Throws where they have to run. */
export const inspircdMissing = (): string | false => serverMissing('inspircd');

export interface Inspircd extends DebianServer {
  readonly port: number;
}

export interface InspircdOptions {
  /** Lines that may come at once; over it they are held back. Default: no limit that a test meets. */
  readonly threshold?: number;
  readonly password?: string;
}

const MODULES =
  'cap ircv3 ircv3_batch ircv3_capnotify ircv3_ctctags ircv3_echomessage ircv3_labeledresponse ircv3_msgid ircv3_servertime chanhistory knock blockcolor';

export async function inspircd(t: Cleanup, { threshold = 100_000, password }: InspircdOptions = {}): Promise<Inspircd> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-inspircd-'));
  const port = await freePort();
  const file = join(folder, 'inspircd.conf');
  writeFileSync(join(folder, 'motd'), 'hello\n');
  writeFileSync(
    file,
    [
      '<server name="irc.test.local" description="test" network="TestNet" id="00A">',
      '<admin name="test" nick="test" email="test@example.org">',
      `<bind address="127.0.0.1" port="${port}" type="clients">`,
      `<connect name="main" allow="*" timeout="60" pingfreq="2m" recvq="64K" softsendq="64K" hardsendq="1M" threshold="${threshold}" commandrate="1000" fakelag="yes" localmax="100" globalmax="100" resolvehostnames="no" limit="500"${password === undefined ? '' : ` password="${password}"`}>`,
      `<files motd="${folder}/motd">`,
      `<path configdir="${folder}" datadir="${folder}" logdir="${folder}" runtimedir="${folder}">`,
      '<chanhistory bots="yes" enableumode="no" prefixmsg="no">',
      '<options defaultmodes="not" moronbanner="out">',
      ...MODULES.split(' ').map((name) => `<module name="${name}">`),
      '',
    ].join('\n'),
  );
  const asRoot = process.getuid?.() === 0 ? ['--runasroot'] : [];
  const args = ['--nofork', '--nopid', '--nolog', ...asRoot, '--config', file];
  const server = await debianServer(t, { name: 'inspircd', args: args, ports: [port], folder });
  return { port, ...server };
}
