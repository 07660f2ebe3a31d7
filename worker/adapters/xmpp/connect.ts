// Holds an account: one session to its end. Coming back, with backoff, is the host's.
import type { Link } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { Session, type SessionTiming } from './connection/session.ts';
import { stateOf } from './state.ts';

/** Resolves when the link's signal ends it; throws when it is lost. */
export const connect = (link: Link<Account>, timing: SessionTiming): Promise<void> =>
  new Session(link, stateOf(link.account), timing).run();
