// An ntfy server on the loopback address, by its documentation: publishing as JSON, a topic's JSON stream (`since`, `open`, `message`), and the
// question whether a topic may be read. Messages are kept, and come again by `since`.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';

export interface NtfyMessage {
  readonly id: string;
  readonly time: number;
  readonly event: 'message';
  readonly topic: string;
  readonly message: string;
  readonly title?: string;
  readonly tags?: readonly string[];
}

export class FakeNtfy {
  readonly messages: NtfyMessage[] = [];
  readonly #token: string;
  readonly #readers = new Map<ServerResponse, readonly string[]>();
  readonly #server: Server = createServer((request, response) => void this.#take(request, response));
  #ids = 0;

  constructor(token: string) {
    this.#token = token;
  }

  async start(t: Cleanup): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  /** Streams that are open now. */
  get readers(): number {
    return this.#readers.size;
  }

  /** Somebody publishes. */
  publish(of: Pick<NtfyMessage, 'topic' | 'message'> & Partial<NtfyMessage>): NtfyMessage {
    this.#ids += 1;
    const { topic, message, title, tags } = of;
    const published: NtfyMessage = {
      id: `m${String(this.#ids).padStart(11, '0')}`,
      time: Math.floor(Date.now() / 1_000),
      event: 'message',
      topic,
      message,
      ...(title === undefined ? {} : { title }),
      ...(tags === undefined ? {} : { tags }),
    };
    this.messages.push(published);
    for (const [reader, topics] of this.#readers) if (topics.includes(topic)) write(reader, published);
    return published;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = (status: number, json: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    if (request.method === 'HEAD') return void response.writeHead(200).end();
    if (request.headers.authorization !== `Bearer ${this.#token}`)
      return answer(401, { code: 40101, http: 401, error: 'unauthorized' });
    if (request.method === 'POST' && pathname === '/')
      return answer(200, this.publish(JSON.parse(Buffer.concat(chunks).toString()) as NtfyMessage));
    const [, topics = '', way] = pathname.split('/');
    if (way === 'auth') return answer(200, { success: true });
    if (way !== 'json') return answer(404, { code: 40401, http: 404, error: 'page not found' });
    this.#stream(response, topics.split(','), searchParams.get('since'));
  }

  /** After an id, from a time on (epoch seconds), or from now on. */
  #from(since: string | null): readonly NtfyMessage[] {
    if (since === null) return [];
    if (/^\d{9,10}$/.test(since)) return this.messages.filter(({ time }) => time >= Number(since));
    return this.messages.slice(this.messages.findIndex(({ id }) => id === since) + 1);
  }

  #stream(response: ServerResponse, topics: readonly string[], since: string | null): void {
    response.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8' });
    write(response, { id: 'open', time: Math.floor(Date.now() / 1_000), event: 'open', topic: topics.join() });
    for (const message of this.#from(since)) if (topics.includes(message.topic)) write(response, message);
    this.#readers.set(response, topics);
    response.once('close', () => this.#readers.delete(response));
  }
}

const write = (response: ServerResponse, line: object): void => void response.write(`${JSON.stringify(line)}\n`);
