// One account of the adapter onebot11 at a fake implementation, for tests of the adapter alone: in any of its modes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type Account, account as keys } from '../../../worker/adapters/onebot11/config.ts';
import { createOnebot11 } from '../../../worker/adapters/onebot11/index.ts';
import { TIMING, type Timing } from '../../../worker/adapters/onebot11/timing.ts';
import { createWebhookSockets } from '../../../worker/ingress/webhook-sockets.ts';
import type { Arrival, FileRef, Outgoing, SendResult } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { FakeOneBot, type FakeOneBotOptions } from '../fake-platforms/onebot11.ts';
import { adapterLink, definitionOf, type TestLink, type TestLinkOptions } from './adapter-link.ts';

export interface BenchOptions extends TestLinkOptions, FakeOneBotOptions {
  readonly change?: Partial<Account>;
  readonly timing?: Partial<Timing>;
  /** What `link.readFile` gives, by id. */
  readonly files?: Readonly<Record<string, string>>;
}

export type Ended = Promise<(Error & { readonly code?: string; readonly remedy?: string }) | undefined>;

export interface Connection {
  readonly link: TestLink<Account>;
  /** Cursors that were stored, in order. */
  readonly cursors: readonly (string | undefined)[];
  /** The error with which the connection ended; undefined where its signal ended it. */
  readonly ended: Ended;
}

export async function onebotBench(
  t: TestContext,
  { change = {}, timing = {}, files = {}, ...options }: BenchOptions = {},
) {
  const fake = await FakeOneBot.start(t, options);
  const adapter = definitionOf(createOnebot11({ ...TIMING, retryMs: 10, ...timing }), keys);
  const account: Account = {
    mode: 'forward',
    url: change.mode === 'http' ? fake.url : fake.wsUrl,
    split: false,
    accessTokens: [secret(fake.token)],
    secrets: [],
    perSecond: 100,
    files: 'inline',
    catchUp: false,
    ...change,
  };
  /** One connection after the other on the same account, as the host makes them. */
  const open = (cursor?: string): Connection => {
    const base = adapterLink(account, options);
    const cursors: (string | undefined)[] = [];
    const link: TestLink<Account> = Object.assign(Object.create(base) as typeof base, {
      cursor,
      readFile: async ({ id }: FileRef) => Buffer.from(files[id] ?? ''),
      fileUrl: ({ id }: FileRef) => `https://bot.example/files/${id}`,
      online: () => {
        if (!base.isOnline && account.catchUp) void adapter.catchUp?.(link).catch(() => base.degraded('behind'));
        base.online();
      },
      receive: async (arrivals: readonly Arrival[], next?: string) => {
        await base.receive(arrivals);
        cursors.push(next);
      },
    });
    const ended = (adapter.connect?.(link) ?? Promise.resolve()).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    t.after(() => link.stop());
    return { link, cursors, ended };
  };
  const send = (
    { link }: Pick<Connection, 'link'>,
    call: Partial<Outgoing> & { readonly kind: Outgoing['kind'] },
  ): Promise<SendResult> =>
    adapter.send({ key: 'k', conversation: 'group:7', text: '', buttons: [], files: [], ...call } as Outgoing, link);
  return { fake, adapter, account, open, send };
}

export const textsOf = ({ link }: Pick<Connection, 'link'>): readonly unknown[] =>
  link.arrivals.map((one) => ('text' in one ? one.text : one.kind));

/** An address at which the implementation may open WebSockets to the account, as the host has it; `current` is who takes them. */
export async function socketAddress(t: TestContext, current: () => TestLink<Account> | undefined): Promise<string> {
  const sockets = createWebhookSockets({
    find: () => ({ verify: () => {}, accept: (socket) => current()?.open(socket), maxBytes: undefined }),
  });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    const headers = request.headers as Readonly<Record<string, string>>;
    const delivery = {
      method: 'GET',
      path: 'onebot11/back',
      query: {},
      headers,
      body: Buffer.alloc(0),
      receivedAt: Date.now(),
    };
    void sockets.open(delivery)(request, socket, head);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/onebot11/back`;
}
