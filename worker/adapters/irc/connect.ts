// Holds one connection for one account. The client library is loaded at the first connection: who has no IRC account does not pay for it.
import { randomUUID } from 'node:crypto';
import type { Link } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { IrcSession, type SessionTiming } from './session.ts';

/** Open connections, by the account object of their link: `send` finds the one of its own account. */
export type Sessions = WeakMap<Account, IrcSession>;

/** Resolves when the link's signal ends the connection; throws when it is lost. Coming back is the caller's. */
export async function connect(link: Link<Account>, sessions: Sessions, timing: SessionTiming): Promise<void> {
  const { Client } = await import('irc-framework');
  const session = new IrcSession({ client: new Client(), link, timing, epoch: randomUUID() });
  sessions.set(link.account, session);
  try {
    await session.run();
  } finally {
    if (sessions.get(link.account) === session) sessions.delete(link.account);
  }
}
