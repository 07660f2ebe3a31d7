// A LINE on the loopback address, as its reference describes it: the Messaging API and the data API over HTTP, and signed deliveries that
// come again until they are taken. LINE's own client is driven against it in test/platforms/line/fake.test.ts.
//
//   P1  An answer is what line-calls.ts says, 401 without the channel's token, or what `next` says. Each has an x-line-request-id.
//   P2  A push with a retry key that was accepted is 409 with the request that was, and its messages.
//   P3  A delivery is signed as LINE signs, over the bytes that go out.
import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wholeBody } from '../http/whole-body.ts';
import type { Cleanup } from '../temporary-project.ts';
import { type FileAnswer, wholeFile } from './file-answer.ts';
import { LineChannel, type LineReply } from './line/calls.ts';
import { type Pace, paced } from './paced.ts';

export interface LineCall {
  /** `POST /v2/bot/message/push`. */
  readonly route: string;
  readonly retryKey: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What happens to a call instead of its answer; `drop` does the work and cuts the connection. */
export type Misfortune =
  | 'drop'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

interface Content {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** How often it is still said to be in preparation. */
  preparing: number;
}

export class FakeLine {
  readonly token = 'channel-access-token-of-line/0123456789+abcdef=';
  readonly secret = '1f6dd201bb328f1c1eac23a96d88c570';
  readonly channel = new LineChannel();
  readonly calls: LineCall[] = [];
  giveFile: FileAnswer = wholeFile;
  /** How long its calls are under way. */
  pace: Pace | undefined;
  readonly #contents = new Map<string, Content>();
  readonly #next = new Map<string, Misfortune[]>();
  readonly #http: Server = createServer(paced(this, (request, response) => void this.#serve(request, response)));
  #events = 0;

  static async start(t: Cleanup): Promise<FakeLine> {
    const line = new FakeLine();
    await new Promise<void>((resolve) => line.#http.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      line.#http.closeAllConnections();
      line.#http.close();
    });
    return line;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** What happens to the next call of this route. */
  next(route: string, misfortune: Misfortune): void {
    this.#next.set(route, [...(this.#next.get(route) ?? []), misfortune]);
  }

  /** What a person has sent. */
  keep(id: string, bytes: Uint8Array, { type = 'image/jpeg', preparing = 0 } = {}): void {
    this.#contents.set(id, { bytes, type, preparing });
  }

  /** One event in a delivery of its own. */
  event(event: object): object {
    this.#events += 1;
    const webhookEventId = `01FZ74A0TDDPYRVKNK77X${String(this.#events).padStart(5, '0')}`;
    const common = { mode: 'active', timestamp: 1_700_000_000_000 + this.#events, webhookEventId };
    const replyToken = 'nHuyWiB7yP5Zw52FIkcQobQuGDXCTA';
    return {
      destination: this.channel.bot,
      events: [{ replyToken, ...common, deliveryContext: { isRedelivery: false }, ...event }],
    };
  }

  /** A line that a person says, in private or in a group. */
  says(
    text: string,
    { user, group, ...more }: { readonly user: string; readonly group?: string; readonly [key: string]: unknown },
  ): object {
    const source =
      group === undefined ? { type: 'user', userId: user } : { type: 'group', groupId: group, userId: user };
    return this.event({
      type: 'message',
      source,
      message: { type: 'text', ...this.channel.mint(group ?? user), text, ...more },
    });
  }

  signed(body: string, secret = this.secret): Record<string, string> {
    return { 'x-line-signature': createHmac('sha256', secret).update(body).digest('base64') };
  }

  deliver(
    url: string,
    payload: object,
    {
      secret = this.secret,
      headers = {},
    }: { readonly secret?: string; readonly headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const body = JSON.stringify(payload);
    const type = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'LineBotWebhook/2.0' };
    return fetch(url, { method: 'POST', headers: { ...type, ...this.signed(body, secret), ...headers }, body });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await wholeBody(request);
    if (bytes === undefined) return;
    const text = bytes.toString();
    const { pathname } = new URL(request.url ?? '/', this.url);
    const route = `${request.method} ${pathname}`;
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const header = request.headers['x-line-retry-key'];
    const retryKey = typeof header === 'string' ? header : undefined;
    this.calls.push({ route, retryKey, body });
    const id = randomUUID();
    response.setHeader('x-line-request-id', id);
    const [misfortune, ...others] = this.#next.get(route) ?? [];
    this.#next.set(route, others);
    if (typeof misfortune === 'object')
      return void response.writeHead(misfortune.status, misfortune.headers).end(misfortune.body ?? '');
    if (request.headers.authorization !== `Bearer ${this.token}`)
      return void response
        .writeHead(401)
        .end(
          '{"message":"Authentication failed due to the following reason: invalid token. Confirm that the access token in the authorization header is valid."}',
        );
    if (this.#content(route, response)) return;
    const answer =
      route === 'POST /v2/bot/channel/webhook/test'
        ? await this.#test(String(body['endpoint'] ?? this.channel.webhook?.endpoint))
        : (this.channel.answer(route, body, { retryKey, request: id }) ?? {
            status: 404,
            json: { message: 'Not found' },
          });
    if (misfortune === 'drop') return void request.socket.destroy();
    response
      .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
      .end(JSON.stringify(answer.json));
  }

  #content(route: string, response: ServerResponse): boolean {
    const [, id, isAsked] = /^GET \/v2\/bot\/message\/(\d+)\/content(\/transcoding)?$/.exec(route) ?? [];
    if (id === undefined) return false;
    const content = this.#contents.get(id);
    if (content === undefined) response.writeHead(404).end('{"message":"Not found"}');
    else if (isAsked !== undefined) {
      content.preparing -= 1;
      response.writeHead(200).end(JSON.stringify({ status: content.preparing >= 0 ? 'processing' : 'succeeded' }));
    } else if (content.preparing > 0) response.writeHead(202).end();
    else this.giveFile(response, content);
    return true;
  }

  /** LINE sends a delivery without events. Where the address is of no machine of this test, the path is what counts. */
  async #test(endpoint: string): Promise<LineReply> {
    const to = this.reach?.(endpoint) ?? endpoint;
    const answer = await this.deliver(to, { destination: this.channel.bot, events: [] }).catch(() => undefined);
    const statusCode = answer?.status ?? 0;
    const isFine = statusCode === 200;
    const timestamp = new Date().toISOString();
    const reason = isFine ? 'OK' : answer === undefined ? 'COULD_NOT_CONNECT' : 'ERROR_STATUS_CODE';
    return { status: 200, json: { success: isFine, timestamp, statusCode, reason, detail: String(statusCode) } };
  }

  /** Where a public address leads. */
  reach: ((endpoint: string) => string) | undefined;
}
