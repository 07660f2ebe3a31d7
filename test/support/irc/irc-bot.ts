// An account of the IRC adapter at a real server; the host is a stub.
import type { TestContext } from 'node:test';
import type { Account, account as properties } from '../../../worker/adapters/irc/config.ts';
import { compose } from '../../../worker/outbox/compose.ts';
import type { AdapterDefinition, Arrival, Outgoing, Rich } from '../../../worker/sdk/index.ts';
import { adapterLink, type TestLink, type TestLinkOptions } from '../accounts/adapter-link.ts';
import { until } from '../until.ts';
import { ircAccount } from './irc-account.ts';

type Irc = AdapterDefinition<typeof properties>;
type MessageArrival = Extract<Arrival, { kind: 'message' | 'edited' }>;

export interface IrcBot {
  readonly link: TestLink<Account>;
  readonly ended: Promise<void>;
  isRunning(): boolean;
  post(key: string, conversation: string, text: string): ReturnType<Irc['send']>;
  /** What came as messages. */
  messages(): readonly MessageArrival[];
}

/** What the host makes of a body that fits into one message. */
export function ircText({ can }: Pick<Irc, 'can'>, { segments }: Rich): string {
  const [part] = compose({ segments, buttons: [], files: [] }, can, { private: false });
  return part !== undefined && 'text' in part ? part.text : '';
}

/** Resolves when it is online, or has ended. */
export async function ircBot(
  t: TestContext,
  irc: Irc,
  { port, store, ...change }: Partial<Account> & TestLinkOptions & { readonly port: number },
): Promise<IrcBot> {
  const link = adapterLink(ircAccount(port, change), store === undefined ? {} : { store });
  let isRunning = true;
  const ended = Promise.resolve(irc.connect?.(link)).finally(() => {
    isRunning = false;
  });
  ended.catch(() => {});
  t.after(async () => {
    link.stop();
    await ended.catch(() => {});
  });
  await until(() => link.isOnline || !isRunning, { what: 'the adapter to be online' });
  const post = (key: string, conversation: string, text: string): ReturnType<Irc['send']> => {
    const call: Outgoing = { kind: 'post', key, conversation, text, buttons: [], files: [] };
    return irc.send(call, link);
  };
  const messages = (): readonly MessageArrival[] =>
    link.arrivals.filter((arrival): arrival is MessageArrival => arrival.kind === 'message');
  return { link, ended, isRunning: () => isRunning, post, messages };
}
