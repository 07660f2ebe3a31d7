// One account of the adapter telegram at a fake Bot API server, for tests of the adapter alone.
import type { TestContext } from 'node:test';
import { type Account, account as keys } from '../../../worker/adapters/telegram/config.ts';
import { telegram as module } from '../../../worker/adapters/telegram/index.ts';
import type { Outgoing, SendResult } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { FakeTelegram } from '../fake-platforms/telegram.ts';
import { adapterLink, definitionOf, type TestLinkOptions } from './adapter-link.ts';

export const telegramAdapter = definitionOf(module, keys);
export const ANN = { id: 5, is_bot: false, first_name: 'Ann', username: 'annie' };
export const CHAT = { id: 5, type: 'private', first_name: 'Ann' };
export const says = (text: string) => ({ message: { message_id: 1, date: 1, chat: CHAT, from: ANN, text } });

export async function telegramBench(
  t: TestContext,
  { change = {}, ...options }: TestLinkOptions & { readonly change?: Partial<Account> } = {},
) {
  const telegram = await new FakeTelegram().listen(t);
  const token = telegram.bot(42, 'svc_bot');
  const account: Account = { token: secret(token), mode: 'polling', secrets: [], apiUrl: telegram.url, ...change };
  const cursors: (string | undefined)[] = [];
  /** One connection after the other on the same account, as the host makes them. */
  const open = (cursor?: string) => {
    const base = adapterLink(account, options);
    const link = Object.assign(Object.create(base) as typeof base, {
      cursor,
      receive: async (...[arrivals, next]: Parameters<typeof base.receive>) => {
        await base.receive(arrivals);
        cursors.push(next);
      },
    });
    const ended = telegramAdapter.connect?.(link).then(
      () => undefined,
      (error: unknown) => error as Error & { code?: string; remedy?: string },
    );
    t.after(() => link.stop());
    return { link, ended };
  };
  const link = adapterLink(account, options);
  const send = (call: Partial<Outgoing> & { readonly kind: Outgoing['kind'] }): Promise<SendResult> =>
    telegramAdapter.send({ key: 'k', conversation: '5', text: '', buttons: [], files: [], ...call } as Outgoing, link);
  return { telegram, token, account, cursors, open, send, link };
}
