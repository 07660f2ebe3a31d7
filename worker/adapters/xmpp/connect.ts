// Runs one session of an account. The host reconnects with backoff.
import type { Link } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { Session, type SessionTiming } from './connection/session.ts';
import { stateOf } from './state.ts';

/** Resolves when the link's signal aborts. Throws when the connection is lost. */
export const connect = (link: Link<Account>, timing: SessionTiming): Promise<void> =>
  new Session(link, stateOf(link.account), timing).run();
