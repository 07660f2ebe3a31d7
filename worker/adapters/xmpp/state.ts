// State of one account over its connections, kept as long as its settings exist.
import type { XmppEntity } from '@xmpp/client';
import type { Account } from './config.ts';
import type { Resumable } from './connection/client.ts';
import { Pending } from './connection/pending.ts';
import type { Session } from './connection/session.ts';
import type { Conversations } from './conversations.ts';
import { MessageIds } from './message-ids.ts';

export class AccountState {
  readonly pending = new Pending();
  readonly ids = new MessageIds();
  /** People's current reactions, by conversation, message and author. */
  readonly reactions = new Map<string, readonly string[]>();
  /** Our own current reactions, by conversation and message. */
  readonly ownReactions = new Map<string, readonly string[]>();
  /** Rooms that were destroyed while the account was in them. */
  readonly destroyed = new Set<string>();
  attempts = 0;
  session: Session | undefined;
  /** State of the login, which a resumed session continues. */
  conversations: Conversations | undefined;
  resumable: Resumable | undefined;

  constructor() {
    this.pending.withdraw = (stanza) => {
      for (const queue of [this.session?.entity?.streamManagement.outbound_q, this.resumable?.queue])
        for (const item of queue ?? []) if (item.stanza === stanza) item.stanza = withoutContent(stanza);
    };
  }

  /** Passes the library's acknowledged and failed stanzas to the waiting sends. */
  follow({ streamManagement }: XmppEntity): void {
    streamManagement.on('ack', (stanza) => this.pending.acknowledged(stanza));
    streamManagement.on('fail', (stanza) => this.pending.failed(stanza));
  }
}

/** Replacement for a withdrawn stanza. The session counts stanzas, so an iq result is sent in its place, which servers drop. */
function withoutContent(stanza: Parameters<Pending['acknowledged']>[0]): typeof stanza {
  const empty = Object.assign(Object.create(Object.getPrototypeOf(stanza) as object) as typeof stanza, {
    name: 'iq',
    attrs: { type: 'result', id: 'withdrawn' },
    children: [],
    parent: null,
  });
  return empty;
}

const states = new WeakMap<Account, AccountState>();

export function stateOf(account: Account): AccountState {
  let state = states.get(account);
  if (state === undefined) {
    state = new AccountState();
    states.set(account, state);
  }
  return state;
}
