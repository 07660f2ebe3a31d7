// A host in memory behind the real HTTP interface, for tests of the chat page: it keeps what people say, answers with what a test tells it to,
// streams events with ids, and can be stopped and started again on its port with all that it had stored.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildConsole } from '../../../.ci/build/console.ts';
import { sandboxArrival } from '../../../worker/adapters/sandbox/arrival.ts';
import {
  chatView,
  type InboundRow,
  type OutboundRow,
  sandboxMessageId,
} from '../../../worker/adapters/sandbox/chat-view.ts';
import type { ChatApi } from '../../../worker/http/api/chat-api.ts';
import type { EventGateway } from '../../../worker/http/api/events-api.ts';
import { createHttpServer, type HttpServer } from '../../../worker/http/server/server.ts';
import { pageOf } from '../../../worker/sandbox/chat-page.ts';
import type { Outgoing } from '../../../worker/sdk/index.ts';
import type { Cleanup } from '../temporary-project.ts';
import { FULL_TOKEN, fakeHostPort } from './fake-host-port.ts';

export { FULL_TOKEN };

const EPOCH = 'abcdefgh12345678';

export interface ChatHost {
  readonly url: string;
  /** What was pressed, as tokens. */
  readonly pressed: readonly string[];
  /** Everything that was said, once for each delivery. */
  readonly said: readonly string[];
  /** Tries to say something, repeats included. */
  readonly tries: readonly string[];
  /** Stores something that the bot sends to the person. */
  send(person: string, call: Partial<Outgoing> & { readonly text?: string }): string;
  /** Answers every line so. */
  answer: (text: string) => string | undefined;
  token: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function chatHost(t: Cleanup, { base = '' }: { readonly base?: string } = {}): Promise<ChatHost> {
  const staticDir = await page(t);
  const store = new Store();
  const port = fakeHostPort({ base });
  const settings = { ...port.current, limits: { ...port.current.limits, streamsPerToken: 20 } };
  const state = { token: FULL_TOKEN, answer: (_text: string): string | undefined => undefined };
  const host = {
    ...port,
    settings: () => ({
      ...settings,
      tokens: settings.tokens.map((one) =>
        one.name === 'main' ? { ...one, token: { reveal: () => state.token } as never } : one,
      ),
    }),
    chat: store.chat((text) => state.answer(text)),
    events: { ...port.events, ...store.events() },
  };
  let listenPort = 0;
  let http: HttpServer | undefined;
  const start = async (): Promise<void> => {
    http = createHttpServer({
      port: host,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      listen: { host: '127.0.0.1', port: listenPort },
      staticDir,
    });
    listenPort = (await http.listen()).port;
  };
  const stop = async (): Promise<void> => {
    store.endStreams();
    await http?.close();
    http = undefined;
  };
  t.after(stop);
  await start();
  return Object.assign(state, {
    url: `http://127.0.0.1:${listenPort}${base}/`,
    pressed: store.pressed,
    said: store.said,
    tries: store.tries,
    send: store.send,
    stop,
    start,
  });
}

class Store {
  readonly pressed: string[] = [];
  readonly said: string[] = [];
  readonly tries: string[] = [];
  readonly #inbound: InboundRow[] = [];
  readonly #outbound: OutboundRow[] = [];
  readonly #streams = new Set<ServerResponse>();
  #n = 0;

  readonly send: ChatHost['send'] = (person, { kind = 'post', text = '', ...rest }) => {
    const n = ++this.#n;
    const call = {
      kind,
      key: `k${n}`,
      conversation: `dm-${person}`,
      text,
      buttons: [],
      files: [],
      ...rest,
    } as Outgoing;
    this.#outbound.push({ n, at: Date.now(), call });
    this.#tell('outbox.sent');
    return sandboxMessageId(call.key);
  };

  chat(answer: (text: string) => string | undefined): ChatApi {
    return {
      say: async ({ person, room, text, delivery }) => {
        this.tries.push(text);
        const duplicate = this.#inbound.some(({ arrival }) => arrival.id === `${person}:${delivery}`);
        if (!duplicate) {
          this.said.push(text);
          this.#inbound.push({
            n: ++this.#n,
            at: Date.now(),
            arrival: sandboxArrival({ person, room, text, delivery, sentAt: Date.now() }),
          });
          this.#tell('inbox.received');
          const reply = answer(text);
          if (reply !== undefined) this.send(person, { text: reply });
        }
        return { id: delivery, duplicate };
      },
      press: async ({ token, delivery }) => {
        this.pressed.push(token);
        return { id: delivery, duplicate: false };
      },
      messages: async ({ person, room, after, limit }) =>
        pageOf(chatView(this.#inbound, this.#outbound, { person, room }), { after, limit, isCut: false }),
    };
  }

  events(): Pick<EventGateway, 'stream' | 'position' | 'openStreams'> {
    return {
      stream: async (_request, response, { lastEventId }) => {
        this.#streams.add(response);
        response.once('close', () => this.#streams.delete(response));
        response.writeHead(200, {
          'Content-Type': 'text/event-stream; charset=utf-8',
          'Cache-Control': 'no-store, no-transform',
        });
        response.write(
          `retry: 100\nevent: svc.hello\ndata: {"heartbeatMs":15000,"resumed":${lastEventId !== undefined}}\n\n`,
        );
        if (Number(lastEventId?.split('.')[1] ?? 0) < this.#n) response.write(this.#frame('outbox.sent'));
      },
      position: () => `${EPOCH}.${this.#n}`,
      openStreams: () => this.#streams.size,
    };
  }

  endStreams(): void {
    for (const response of this.#streams) response.destroy();
  }

  #tell(type: string): void {
    for (const response of this.#streams) response.write(this.#frame(type));
  }
  #frame(type: string): string {
    return `id: ${EPOCH}.${this.#n}\nevent: ${type}\ndata: {}\n\n`;
  }
}

/** The built page in a folder of its own. */
async function page(t: Cleanup): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-console-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, content: Uint8Array | string): void => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  await buildConsole({ write } as unknown as Parameters<typeof buildConsole>[0]);
  return join(folder, 'console');
}
