// One session of a client of others with the IRC server for load: what either wrote, line by line.
import { FakeIrcServer } from '../fake-platforms/irc-server.ts';
import { OTHERS } from '../irc/irc-clients.ts';
import type { Cleanup } from '../temporary-project.ts';
import { nameOf } from './clients.ts';
import type { Recorded } from './recorder.ts';
import { streamsOf } from './streams.ts';

type Name = keyof typeof OTHERS;
export const IRC_CLIENTS = Object.keys(OTHERS) as readonly Name[];

export async function ircSession(
  t: Cleanup,
  name: Name,
): Promise<{ readonly client: string; readonly frames: readonly Recorded[] }> {
  const server = new FakeIrcServer();
  await server.listen(t);
  const { port, written } = await streamsOf(t, server.port);
  const client = OTHERS[name](t, { port, nick: 'other' });
  await client.sees('registered other');
  client.raw('JOIN #room');
  await client.sees('other joined #room');
  server.say('ann', 'hello', 'm1');
  await client.sees('ann to other: hello');
  if (client.tagsOf('hello').get('msgid') !== 'm1') throw new Error('the id of the line was not understood');
  client.raw('NICK another');
  await client.sees('other is another');
  const frames = (['client', 'platform'] as const).map((from) => ({ from, frame: linesOf(written[from]) }));
  return { client: nameOf(name), frames };
}

/** Pings come when they like. */
const linesOf = (stream: string): readonly string[] =>
  stream.split(/\r?\n/).filter((line) => line !== '' && !/^(?::\S+ )?P[IO]NG /.test(line));
