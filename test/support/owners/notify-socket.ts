// The end of NOTIFY_SOCKET at which an owner listens, by path or by abstract name. Node has no datagram sockets of this kind: perl holds it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

const RECEIVER = `
use Socket;
my $name = shift;
$name =~ s/^@/\\0/;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!;
bind($s, pack_sockaddr_un($name)) or die $!;
$| = 1;
print "listening\\n";
while (defined recv($s, my $word, 4096, 0)) { $word =~ s/\\n/ /g; print "$word\\n" unless $word eq 'BARRIER=1'; }
`;

/** Why it cannot be had here; false where it can. */
export const noNotifySocket: string | false =
  process.platform !== 'linux'
    ? 'systemd is of Linux'
    : (['perl', 'systemd-notify']
        .filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error !== undefined)
        .map((name) => `${name} is not there`)[0] ?? false);

export interface NotifySocket {
  /** For the variable of that name. */
  readonly name: string;
  /** What was said so far, a line each time. */
  words(): readonly string[];
  said(pattern: RegExp): Promise<string>;
}

export async function notifySocket(t: Cleanup, name: string): Promise<NotifySocket> {
  const child = spawn('perl', ['-e', RECEIVER, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(child.stdout, 'data');
  const words = (): readonly string[] => text.split('\n').slice(1, -1);
  return {
    name,
    words,
    said: (pattern) =>
      until(() => words().find((word) => pattern.test(word)), {
        what: `${pattern} in ${words().length} words`,
      }),
  };
}
