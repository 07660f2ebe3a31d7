// An implementation of OneBot 11 on the loopback address, as the specification (botuniverse/onebot-11) and NapCat describe it: calls and events
// over its own WebSocket, over one that it opens, and over HTTP. It is driven first by clients that nobody here wrote: an SDK of NapCat over the
// WebSocket (test/platforms/onebot11/fake.test.ts), Koishi's adapter over the two others (onebot11-koishi.test.ts).
//
//   P1  `/` is for both, `/api` for calls, `/event` for events. A token that is missing is 401, a wrong one 403; or, as NapCat has it (`saysLate`),
//       the connection opens, is told `retcode` 1403 with no echo, and closes.
//   P2  Each WebSocket for events is told that it is connected, then what happens; an event is pushed once, to who is there.
//   P3  A WebSocket that it opened is opened again, as long as it is told to, `againMs` after it was lost.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { wholeBody } from '../http/whole-body.ts';
import type { Cleanup } from '../temporary-project.ts';
import { type Answer, Bot, failed } from './onebot11/bot.ts';
import { type CallerOptions, OneBotCaller, type Role } from './onebot11/caller.ts';
import { type Pace, paced } from './paced.ts';

/** What happens to a call instead of its answer. `drop` does the work and cuts the connection, `hold` does it and never answers. */
export type Misfortune =
  | 'drop'
  | 'hold'
  | Answer
  | { readonly http: number; readonly headers?: Readonly<Record<string, string>> };
type Params = Readonly<Record<string, unknown>>;
interface SocketCall {
  readonly action?: string;
  readonly params?: Params;
  readonly echo?: unknown;
}

export interface FakeOneBotOptions {
  readonly self?: number;
  readonly token?: string;
  readonly saysLate?: boolean;
  /** The token is taken whatever its scheme is called, as go-cqhttp does: the specification has `Bearer` alone. */
  readonly takesAnyScheme?: boolean;
}

export class FakeOneBot {
  readonly bot: Bot;
  readonly token: string;
  readonly calls: { readonly action: string; readonly params: Params }[] = [];
  /** How WebSockets that it opened were answered: 101, or the status of the refusal. */
  readonly handshakes: number[] = [];
  format: 'array' | 'string' = 'array';
  /** How long its calls are under way. */
  pace: Pace | undefined;
  readonly #saysLate: boolean;
  readonly #scheme: RegExp;
  /** Events that are told to every socket as it begins to hear. */
  readonly waiting: Params[] = [];
  readonly #next = new Map<string, Misfortune[]>();
  readonly #events = new Set<WebSocket>();
  readonly #apis = new Set<WebSocket>();
  readonly #callers = new Set<OneBotCaller>();
  readonly #http: Server = createServer(paced(this, (request, response) => void this.#serve(request, response)));
  readonly #ws = new WebSocketServer({ noServer: true });
  readonly #served = new Map<string, Buffer>();

  private constructor({ self = 10_001_000, token = 'kSLuTF2GC2Q4q4ugm3', ...more }: FakeOneBotOptions) {
    this.bot = new Bot(self);
    this.token = token;
    this.#saysLate = more.saysLate ?? false;
    this.#scheme = more.takesAnyScheme === true ? /^\w+ (.+)$/ : /^Bearer (.+)$/;
  }

  static async start(t: Cleanup, options: FakeOneBotOptions = {}): Promise<FakeOneBot> {
    const fake = new FakeOneBot(options);
    fake.#http.on('upgrade', (request, socket: Duplex, head) => fake.#upgrade(request, socket, head));
    await new Promise<void>((resolve) => fake.#http.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      for (const caller of fake.#callers) caller.stop();
      for (const socket of fake.#ws.clients) socket.terminate();
      fake.#http.closeAllConnections();
      fake.#http.close();
    });
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }
  get wsUrl(): string {
    return this.url.replace('http', 'ws');
  }
  /** Sockets that hear events now, whoever opened them. */
  get listeners(): number {
    return this.#events.size;
  }

  called(action: string): readonly Params[] {
    return this.calls.filter((call) => call.action === action).map(({ params }) => params);
  }

  /** What happens to the next call of this action. */
  next(action: string, ...misfortunes: readonly Misfortune[]): void {
    this.#next.set(action, [...(this.#next.get(action) ?? []), ...misfortunes]);
  }

  /** Nothing happens to the next calls any more. */
  calm(): void {
    this.#next.clear();
  }

  /** Bytes at an address of this server. */
  serve(path: string, bytes: Buffer): string {
    this.#served.set(path, bytes);
    return this.url + path;
  }

  /** An event with what all events have. */
  told(event: Params): Params {
    return { time: Math.floor(Date.now() / 1_000), self_id: this.bot.self, ...event };
  }
  push(event: Params): void {
    this.raw(JSON.stringify(this.told(event)));
  }
  raw(frame: string): void {
    for (const socket of this.#events) socket.send(frame);
  }

  /** A person says something; it is pushed, or only kept for the history. */
  line(
    message: unknown,
    {
      user = 5,
      group,
      push = true,
      time,
    }: { readonly user?: number; readonly group?: number; readonly push?: boolean; readonly time?: number } = {},
  ): Params {
    const where = { user, ...(group === undefined ? {} : { group }), ...(time === undefined ? {} : { time }) };
    const event = this.bot.event(this.bot.say(message, where), this.format);
    if (push) this.push(event);
    return event;
  }

  heartbeat(interval: number): void {
    this.push({ post_type: 'meta_event', meta_event_type: 'heartbeat', status: { ...this.bot.status }, interval });
  }

  /** A delivery over HTTP, signed as the specification says. */
  post(url: string, event: Params, { secret }: { readonly secret: string }): Promise<Response> {
    const body = JSON.stringify(event);
    const signature = `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`;
    const headers = {
      'content-type': 'application/json',
      'x-self-id': String(this.bot.self),
      'x-signature': signature,
    };
    return fetch(url, { method: 'POST', headers, body });
  }

  /** P3. */
  connectTo(
    url: string,
    { token = this.token, role = 'Universal', ...more }: Partial<CallerOptions> = {},
  ): OneBotCaller {
    const caller = new OneBotCaller(url, {
      self: this.bot.self,
      token,
      role,
      ...more,
      answered: (status) => void this.handshakes.push(status),
      opened: (socket) => this.#use(socket, role),
    });
    this.#callers.add(caller);
    return caller;
  }

  /** Cuts all sockets without a word; those that it opened come again. */
  cut(): void {
    for (const socket of new Set([...this.#events, ...this.#apis])) socket.terminate();
  }

  /** Reads and answers nothing on the sockets that are open, no ping either. */
  freeze(): void {
    for (const socket of new Set([...this.#events, ...this.#apis])) socket.pause();
  }

  /** P1. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { pathname } = new URL(request.url ?? '/', this.url);
    const role = ({ '/': 'Universal', '/api': 'API', '/event': 'Event' } as const)[pathname.replace(/(?<=.)\/$/, '')];
    const status = role === undefined ? 404 : this.#refusal(request);
    if (role === undefined || (status !== undefined && !this.#saysLate))
      return void socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    this.#ws.handleUpgrade(request, socket, head, (opened) => {
      if (status === undefined) return this.#use(opened, role);
      opened.send(JSON.stringify({ ...failed(1403, 'token验证失败'), echo: null }));
      opened.close(1000);
    });
  }

  #refusal(request: IncomingMessage): 401 | 403 | undefined {
    const query = new URL(request.url ?? '/', this.url).searchParams.get('access_token');
    const given = this.#scheme.exec(request.headers.authorization ?? '')?.[1] ?? query;
    if (given === null || given === '') return 401;
    return given === this.token ? undefined : 403;
  }

  /** P2. */
  #use(socket: WebSocket, role: Role): void {
    if (role !== 'Event') {
      this.#apis.add(socket);
      socket.on('message', (data) => this.#onCall(socket, String(data)));
    }
    if (role !== 'API') {
      this.#events.add(socket);
      const connected = { post_type: 'meta_event', meta_event_type: 'lifecycle', sub_type: 'connect' };
      for (const event of [connected, ...this.waiting]) socket.send(JSON.stringify(this.told(event)));
    }
    socket.on('close', () => {
      this.#events.delete(socket);
      this.#apis.delete(socket);
    });
  }

  #onCall(socket: WebSocket, text: string): void {
    let call: SocketCall;
    try {
      call = JSON.parse(text) as SocketCall;
    } catch {
      return socket.send(JSON.stringify(failed(1400, 'json解析失败,请检查数据格式')));
    }
    const way = this.pace?.(call.action ?? '');
    if (way === undefined) return this.#answerCall(socket, call);
    const isOpen = (): boolean => socket.readyState === WebSocket.OPEN;
    setTimeout(() => isOpen() && this.#answerCall(socket, call, way.backMs), way.thereMs);
  }

  #answerCall(socket: WebSocket, { action = '', params = {}, echo }: SocketCall, backMs = 0): void {
    this.calls.push({ action, params });
    const misfortune = this.#misfortune(action);
    if (typeof misfortune === 'object') {
      const answer = 'http' in misfortune ? failed(1000 + misfortune.http, 'refused') : misfortune;
      return socket.send(JSON.stringify({ ...answer, echo }));
    }
    const answer = this.bot.do(action, params);
    if (misfortune === 'drop') return socket.terminate();
    const say = (): void => socket.send(JSON.stringify({ ...answer, echo }));
    if (misfortune !== undefined) return;
    if (backMs === 0) say();
    else setTimeout(say, backMs);
  }

  #misfortune(action: string): Misfortune | undefined {
    const [misfortune, ...others] = this.#next.get(action) ?? [];
    this.#next.set(action, others);
    return misfortune;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await wholeBody(request);
    if (bytes === undefined) return;
    const { pathname } = new URL(request.url ?? '/', this.url);
    const served = this.#served.get(pathname);
    if (served !== undefined) return void response.writeHead(200, { 'content-length': served.length }).end(served);
    const refusal = this.#refusal(request);
    if (refusal !== undefined) return void response.writeHead(refusal).end();
    if (!(request.headers['content-type'] ?? '').startsWith('application/json'))
      return void response.writeHead(406).end();
    const action = pathname.slice(1).replace(/\/$/, '');
    let params: Params;
    try {
      params = JSON.parse(bytes.toString()) as Params;
    } catch {
      return void response.writeHead(400).end();
    }
    this.calls.push({ action, params });
    const misfortune = this.#misfortune(action);
    if (typeof misfortune === 'object' && 'http' in misfortune)
      return void response.writeHead(misfortune.http, misfortune.headers).end();
    const answer = typeof misfortune === 'object' ? misfortune : this.bot.do(action, params);
    if (misfortune === 'drop') return void request.socket.destroy();
    if (misfortune === 'hold') return;
    if (answer.retcode === 1404) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }
}
