// Stands between a client and a fake platform and writes down what either says on the wire, over HTTP and WebSockets.
import { once } from 'node:events';
import { request as ask, createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import type { Cleanup } from '../temporary-project.ts';
import { Stable } from './stable.ts';

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  /** Those that say who asks, who has signed, and which repeat it is. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  status?: number;
  answer?: unknown;
}
type Frame = { readonly from: 'client' | 'platform'; readonly frame: unknown };
export type Recorded = Exchange | Frame;

export interface RecorderOptions {
  /** Of the fake. */
  readonly port: number;
  /** Values that the recording has by name. */
  readonly known: Readonly<Record<string, string>>;
  readonly madeUp?: readonly string[];
  /** Who opens a WebSocket. Default: the client. */
  readonly opener?: 'client' | 'platform';
  /** What comes when it likes. */
  readonly leavesOut?: (frame: unknown) => boolean;
}

const KEPT = [
  'authorization',
  'x-line-retry-key',
  'x-github-event',
  'x-github-delivery',
  'x-hub-signature-256',
  'x-line-signature',
  'x-self-id',
  'x-signature',
  'x-signature-ed25519',
  'x-signature-timestamp',
  'x-slack-request-timestamp',
  'x-slack-signature',
  'x-telegram-bot-api-secret-token',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];

/** Those with which a WebSocket is opened. */
const OPENING = ['authorization', 'x-self-id', 'x-client-role'];

export class Recorder {
  readonly frames: Recorded[] = [];
  readonly #options: RecorderOptions;
  #stable = new Stable({});
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });

  private constructor(options: RecorderOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      void this.#exchange(request).then(({ status, headers, bytes }) => response.writeHead(status, headers).end(bytes));
    });
    this.#server.on('upgrade', (request, socket, head) => {
      this.#sockets.handleUpgrade(request, socket, head, (client) => this.#join(request, client));
    });
  }

  static async before(t: Cleanup, options: RecorderOptions): Promise<Recorder> {
    const recorder = new Recorder(options);
    await once(recorder.#server.listen(0, '127.0.0.1'), 'listening');
    recorder.#stable = new Stable({ ...options.known, address: recorder.address }, options.madeUp);
    t.after(() => {
      for (const client of recorder.#sockets.clients) client.terminate();
      recorder.#server.close();
      recorder.#server.closeAllConnections();
    });
    return recorder;
  }

  /** Host and port for the client. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo | null)?.port ?? 0}`;
  }

  get #upstream(): string {
    return `127.0.0.1:${this.#options.port}`;
  }

  async #exchange(request: IncomingMessage) {
    const body = await buffer(request);
    const { method = '', url = '', headers } = request;
    const exchange: Exchange = {
      method,
      path: this.#stable.text(decodeURI(url)),
      ...contentOf(this.#stable, headers['content-type'], body),
      headers: this.#stable.json(
        Object.fromEntries(
          KEPT.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
        ),
      ) as Exchange['headers'],
    };
    if (this.#options.leavesOut?.(exchange) !== true) this.frames.push(exchange);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#options.port, method, path: url, agent: false } as const;
      ask({ ...options, headers: { ...headers, host: this.#upstream } }, resolve)
        .on('error', reject)
        .end(body);
    });
    const text = (await buffer(answer)).toString('utf8');
    const bytes = Buffer.from(text.replaceAll(this.#upstream, this.address));
    exchange.status = answer.statusCode ?? 0;
    const { body: said } = contentOf(this.#stable, answer.headers['content-type'], bytes);
    if (said !== undefined) exchange.answer = said;
    const { 'transfer-encoding': _, connection: _c, ...rest } = answer.headers;
    return { status: exchange.status, headers: { ...rest, 'content-length': bytes.length }, bytes };
  }

  /** `client`: whoever opened it. */
  #join({ url = '', headers: all }: IncomingMessage, client: WebSocket): void {
    const headers = Object.fromEntries(OPENING.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
    const platform = new WebSocket(`ws://${this.#upstream}${url}`, { headers });
    const [near, far] =
      this.#options.opener === 'platform' ? (['platform', 'client'] as const) : (['client', 'platform'] as const);
    if (near === 'platform') this.frames.push({ from: near, frame: this.#stable.json({ opens: url, ...headers }) });
    const waiting: string[] = [];
    const note = (from: Frame['from'], data: RawData): string => {
      const text = String(data).replaceAll(this.#upstream, this.address);
      const frame = JSON.parse(text) as unknown;
      if (this.#options.leavesOut?.(frame) !== true) this.frames.push({ from, frame: this.#stable.json(frame) });
      return text;
    };
    client.on('message', (data) => {
      const text = note(near, data);
      if (platform.readyState === WebSocket.OPEN) platform.send(text);
      else waiting.push(text);
    });
    platform.on('open', () => waiting.forEach((text) => platform.send(text)));
    platform.on('message', (data) => client.send(note(far, data)));
    for (const [one, other] of [
      [client, platform],
      [platform, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.terminate());
  }
}

/** What a body means, as far as it can be written down: JSON, a form, a form with files, text. */
export function contentOf(
  stable: Stable,
  type = '',
  bytes: Buffer,
): { readonly type?: string; readonly body?: unknown } {
  const [kind = '', boundary] = type.split(/;.*boundary=/);
  const name = kind.split(';')[0] ?? '';
  const text = bytes.toString('utf8');
  if (text === '') return {};
  if (name === 'application/json') return { type: name, body: stable.json(JSON.parse(text)) };
  if (name === 'application/x-www-form-urlencoded')
    return { type: name, body: stable.json(Object.fromEntries(new URLSearchParams(text))) };
  if (boundary !== undefined) return { type: name, body: stable.text(text.replaceAll(boundary, '<boundary>')) };
  return { type: name, body: stable.text(text) };
}
