// A platform that speaks Standard Webhooks, on the loopback address: it signs what it delivers, and takes signed posts of the bot.
//
//   P1  A post is shown once for each `webhook-id`; every repeat of the id is counted and must be the same message.
//   P2  What it has taken is recorded before it answers: this process is never killed, so the record is durable for the test.
//   P3  It may misbehave as real ones do: `drop` takes the post and cuts the connection without an answer, `later` takes nothing and asks for later.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { wholeBody } from '../http/whole-body.ts';
import type { Cleanup } from '../temporary-project.ts';
import { type Pace, paced } from './paced.ts';

/** One message as people on the platform see it. */
export interface ShownPost {
  readonly key: string;
  readonly account: string;
  /** `post`, or what it does to another one. */
  readonly type: string;
  /** By which it is named, or what it changes. */
  readonly message: string;
  readonly conversation: string;
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly token: string }[];
  readonly files: readonly { readonly url: string }[];
  readonly emoji?: string;
  /** Position among all posts of the platform. */
  readonly order: number;
  /** `stamp` of each time it was taken, the first included. */
  readonly taken: number[];
  /** How often it was taken and the answer withheld: so many repeats more are due. */
  unanswered: number;
}

export interface WebhookPlatformOptions {
  /** Kept with each post: which life of the worker it is. */
  readonly stamp?: () => number;
  readonly misbehave?: () => 'drop' | 'later' | undefined;
  /** Its clock, which signatures are checked by. Default: that of this process. */
  readonly now?: () => number;
}

/** As the library has it. */
const TOLERANCE_MS = 300_000;

export interface SignedDelivery {
  readonly id: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class WebhookPlatform {
  readonly secret: string;
  /** By webhook-id, in the order in which they were first taken. */
  readonly posts = new Map<string, ShownPost>();
  readonly faults: string[] = [];
  /** How long its calls are under way. */
  pace: Pace | undefined;
  readonly #options: WebhookPlatformOptions;
  readonly #webhook: Webhook;
  readonly #server: Server;

  constructor(secret: string, options: WebhookPlatformOptions = {}) {
    this.secret = secret;
    this.#options = options;
    this.#webhook = new Webhook(secret);
    this.#server = createServer(paced(this, (request, response) => void this.#take(request, response)));
  }

  async listen(t: Cleanup): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  /** Where the bot's account posts to. */
  url(account: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${account}`;
  }

  sign(id: string, payload: object): SignedDelivery {
    const body = JSON.stringify(payload);
    const now = new Date();
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': this.#webhook.sign(id, now, body),
    };
    return { id, body, headers };
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await wholeBody(request);
    if (bytes === undefined) return;
    const misbehaviour = this.#options.misbehave?.();
    if (misbehaviour === 'later') return void response.writeHead(503, { 'retry-after': '1' }).end();
    const id = this.#record(request, bytes.toString());
    if (id === undefined) return void response.writeHead(401).end();
    if (misbehaviour === 'drop') {
      const post = this.posts.get(id);
      if (post !== undefined) post.unanswered += 1;
      return void request.socket.destroy();
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: nameOf(id) }));
  }

  #verify(body: string, headers: Readonly<Record<string, string>>): void {
    const { now } = this.#options;
    if (now === undefined) return void this.#webhook.verify(body, headers);
    const at = Number(headers['webhook-timestamp']) * 1_000;
    if (!(Math.abs(now() - at) <= TOLERANCE_MS)) throw new Error(`signed at ${at}, and it is ${now()}`);
    const wanted = this.#webhook.sign(headers['webhook-id'] ?? '', new Date(at), body);
    if (headers['webhook-signature']?.split(' ').includes(wanted) !== true) throw new Error('another signature');
  }

  #record({ headers, url = '' }: IncomingMessage, body: string): string | undefined {
    try {
      this.#verify(body, headers as Record<string, string>);
    } catch (error) {
      this.faults.push(`a post was not signed: ${String(error)}`);
      return undefined;
    }
    const key = String(headers['webhook-id']);
    const sent = JSON.parse(body) as Pick<ShownPost, 'type' | 'conversation' | 'text'> & Partial<ShownPost>;
    const { type, conversation, text, buttons = [], files = [], emoji } = sent;
    const stamp = this.#options.stamp?.() ?? 0;
    const known = this.posts.get(key);
    if (known === undefined) {
      this.posts.set(key, {
        key,
        account: url.slice(1),
        type,
        message: sent.message ?? nameOf(key),
        conversation,
        text,
        buttons,
        files,
        ...(emoji === undefined ? {} : { emoji }),
        order: this.posts.size,
        taken: [stamp],
        unanswered: 0,
      });
      return key;
    }
    known.taken.push(stamp);
    if (known.text !== text || known.conversation !== conversation)
      this.faults.push(`webhook-id ${key} was used for two messages: "${known.text}" and "${text}"`);
    return key;
  }
}

const nameOf = (key: string): string => `shown-${key}`;
