// Holds one connection for one account. The first connection loads the client library, so a host without IRC accounts never loads it.
import { randomUUID } from 'node:crypto';
import type { Client } from 'irc-framework';
import type { Link } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { IrcSession } from './connection/session.ts';
import type { SessionTiming } from './connection/timing.ts';
import { CAPABILITY } from './history.ts';

/** Open connections by the account object of their link, for sends of that account. */
export type Sessions = WeakMap<Account, IrcSession>;

/** Resolves when the link's signal ends the connection. Throws when the connection is lost. Reconnecting is the caller's job. */
export async function connect(link: Link<Account>, sessions: Sessions, timing: SessionTiming): Promise<void> {
  const { Client } = await import('irc-framework');
  const client = new Client();
  client.requestCap(CAPABILITY);
  guard(client);
  const session = new IrcSession({ client, link, timing, epoch: randomUUID() });
  sessions.set(link.account, session);
  try {
    await session.run();
  } finally {
    if (sessions.get(link.account) === session) sessions.delete(link.account);
  }
}

const MAX_LINE_BYTES = 64 * 1_024;

/** Limits the length of an unfinished line, because the client buffers a line until it ends. */
function guard(client: Client): void {
  client.on('raw socket connected', (socket) => {
    socket.on('data', () => {
      if ((client.connection.transport?.incoming_buffer?.length ?? 0) > MAX_LINE_BYTES)
        socket.destroy(new Error('a line without an end'));
    });
  });
}
