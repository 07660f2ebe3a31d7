// Accounts of the XMPP adapter at a server of the test, and connections of them.
import type { TestContext } from 'node:test';
import { type Account, account as properties } from '../../../worker/adapters/xmpp/config.ts';
import { TIMING } from '../../../worker/adapters/xmpp/connection/session.ts';
import { createXmpp } from '../../../worker/adapters/xmpp/index.ts';
import type { Arrival, FileRef, Logger, Outgoing, SendResult } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { until } from '../until.ts';
import { adapterLink, definitionOf, type TestLink } from './adapter-link.ts';

/** Prosody and all that a test does between may take their time on a busy machine; no test waits for these limits. */
export const xmppAdapter = definitionOf(
  createXmpp({ ...TIMING, rejoinMs: 100, pingMs: 60_000, loginMs: 600_000, confirmMs: 600_000 }),
  properties,
);

export const xmppAccount = (port: number, change: Partial<Account> = {}): Account => ({
  jid: 'bot@localhost',
  password: secret('pw-bot'),
  host: '127.0.0.1',
  port,
  tls: 'none',
  verifyCertificate: true,
  resource: 'svc',
  rooms: [],
  fileHosts: [],
  maxFileBytes: 1_000_000,
  ...change,
});

export interface XmppBot {
  readonly link: TestLink<Account>;
  /** The error with which the connection ended; undefined after `stop`. */
  readonly ended: Promise<(Error & { code?: string; remedy?: string }) | undefined>;
  readonly cursor: string | undefined;
  readonly messages: readonly MessageArrival[];
  send(
    call: Partial<Outgoing> & { readonly kind: Outgoing['kind']; readonly conversation: string },
  ): Promise<SendResult>;
  post(key: string, conversation: string, text: string): Promise<SendResult>;
  fetch(file: FileRef): Promise<ReadableStream<Uint8Array>>;
  stop(): Promise<void>;
}
export type MessageArrival = Extract<Arrival, { kind: 'message' | 'edited' }>;

export interface XmppBotOptions {
  readonly cursor?: string | undefined;
  readonly store?: (arrivals: readonly Arrival[]) => Promise<void>;
  readonly adapter?: typeof xmppAdapter;
  readonly log?: Logger;
  /** Bytes of files that a send names. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
}

/** Connects as the host does, without reconnecting; waits until it is online and caught up, or at its end. */
export async function xmppBot(t: TestContext, account: Account, options: XmppBotOptions = {}): Promise<XmppBot> {
  const { adapter = xmppAdapter, store, log, files = {} } = options;
  const base = adapterLink(account, { ...(store && { store }), ...(log && { log }) });
  let cursor = options.cursor;
  let isCaughtUp = false;
  let hasEnded = false;
  const link: TestLink<Account> = Object.defineProperties(Object.create(base) as TestLink<Account>, {
    cursor: { get: () => cursor },
    openFile: {
      value: async ({ id }: { readonly id: string }) => {
        const bytes = files[id] ?? new Uint8Array();
        return {
          bytes: bytes.byteLength,
          async *content() {
            yield bytes;
          },
        };
      },
    },
    receive: {
      value: async (arrivals: readonly Arrival[], next?: string) => {
        // As the host does: an id is taken once.
        await base.receive(arrivals.filter(({ id }) => !base.arrivals.some((known) => known.id === id)));
        cursor = next ?? cursor;
      },
    },
    online: {
      value: () => {
        if (!base.isOnline)
          void adapter.catchUp?.(link).then(
            () => (isCaughtUp = true),
            () => {},
          );
        base.online();
      },
    },
  });
  const ended = Promise.resolve(adapter.connect?.(link))
    .then(
      () => undefined,
      (error: unknown) => error as Error & { code?: string; remedy?: string },
    )
    .finally(() => {
      hasEnded = true;
    });
  const stop = async (): Promise<void> => {
    base.stop();
    await ended;
  };
  t.after(stop);
  await until(() => isCaughtUp || hasEnded, { what: 'the adapter to be online' });
  const send: XmppBot['send'] = (call) =>
    adapter.send({ key: 'k', text: '', buttons: [], files: [], ...call } as Outgoing, link);
  return {
    link,
    ended,
    get cursor() {
      return cursor;
    },
    get messages() {
      return base.arrivals.filter((one): one is MessageArrival => one.kind === 'message' || one.kind === 'edited');
    },
    send,
    post: (key, conversation, text) => send({ kind: 'post', key, conversation, text }),
    fetch: (file) => adapter.fetchFile?.(file, link) ?? Promise.reject(new Error('no files')),
    stop,
  };
}
