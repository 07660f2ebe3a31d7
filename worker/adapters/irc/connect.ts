// Holds one connection for one account. The client library is loaded at the first connection: who has no IRC account does not pay for it.
import { randomUUID } from 'node:crypto';
import type { Client } from 'irc-framework';
import type { Link } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { IrcSession } from './connection/session.ts';
import type { SessionTiming } from './connection/timing.ts';
import { CAPABILITY } from './history.ts';

/** Open connections, by the account object of their link: `send` finds the one of its own account. */
export type Sessions = WeakMap<Account, IrcSession>;

/** Resolves when the link's signal ends the connection; throws when it is lost. Coming back is the caller's. */
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

/** The client keeps what it has of a line until the line ends. */
function guard(client: Client): void {
  client.on('raw socket connected', (socket) => {
    socket.on('data', () => {
      if ((client.connection.transport?.incoming_buffer?.length ?? 0) > MAX_LINE_BYTES)
        socket.destroy(new Error('a line without an end'));
    });
  });
}
