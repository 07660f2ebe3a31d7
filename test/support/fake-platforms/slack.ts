// A Slack on the loopback address, as its documentation describes it: the Web API over HTTP with forms or JSON, files, signed deliveries,
// and Socket Mode. Slack's own client is driven against it in test/platforms/slack/client.test.ts.
//
//   P1  Answers are 200 with `ok`, 429 with Retry-After, or what `next` says; a bot token opens the API, an app-level token Socket Mode.
//   P2  A delivery is signed as Slack signs. An event that was not acknowledged over a socket comes again on the next one; a press
//       or a command does not.
import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { DISCONNECT, HELLO } from '../accounts/slack-examples.ts';
import { wholeBody } from '../http/whole-body.ts';
import type { Cleanup } from '../temporary-project.ts';
import { type FileAnswer, wholeFile } from './file-answer.ts';
import { type Pace, paced } from './paced.ts';
import { type Args, SlackWorkspace } from './slack/methods.ts';

export interface SlackCall {
  readonly method: string;
  readonly args: Args;
}

/** What happens to a call instead of its answer; `drop` does the work and cuts the connection. */
export type Misfortune =
  | 'drop'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

interface Envelope {
  readonly envelope_id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly attempt: number;
}

/** Those of the manifest in the adapter's README. */
const ALL_SCOPES =
  'app_mentions:read,chat:write,chat:write.public,commands,channels:history,groups:history,im:history,mpim:history,channels:read,groups:read,reactions:read,reactions:write,files:read,files:write,im:write,metadata.message:read,users:read';

/** Of the methods that are tried without. */
const NEEDED: Readonly<Record<string, string>> = { 'users.info': 'users:read' };

export class FakeSlack {
  readonly botToken = 'xoxb-1-2-botbotbotbot';
  readonly appToken = 'xapp-1-A123ABC456-3-appappapp';
  readonly signingSecret = 'e6b19c573432dcc6b075501d51b51bb8';
  /** Of the bot token, told with every answer to it. */
  scopes = ALL_SCOPES;
  readonly workspace = new SlackWorkspace(() => this.url);
  readonly calls: SlackCall[] = [];
  /** Envelopes by id, in the order of their acknowledgement. */
  readonly acknowledged: string[] = [];
  giveFile: FileAnswer = wholeFile;
  /** How long its calls are under way. */
  pace: Pace | undefined;
  /** Sockets that were opened so far. */
  opened = 0;
  /** Calls of a method that are left before Slack asks to wait; without an entry as many as one likes. */
  readonly left = new Map<string, number>();
  /** Methods that are never answered. */
  readonly mute = new Set<string>();
  readonly #next = new Map<string, Misfortune[]>();
  readonly #tickets = new Set<string>();
  readonly #sockets: WebSocket[] = [];
  readonly #open = new Map<string, Envelope>();
  readonly #http: Server = createServer(paced(this, (request, response) => void this.#serve(request, response)));
  readonly #ws = new WebSocketServer({ noServer: true });
  #events = 0;

  static async start(t: Cleanup): Promise<FakeSlack> {
    const slack = new FakeSlack();
    slack.#http.on('upgrade', (request, socket: Duplex, head) => slack.#upgrade(request, socket, head));
    await new Promise<void>((resolve) => slack.#http.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      for (const socket of slack.#ws.clients) socket.terminate();
      slack.#http.closeAllConnections();
      slack.#http.close();
    });
    return slack;
  }

  /** Another address at which it is reached. */
  front: string | undefined;
  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }
  get apiUrl(): string {
    return `${this.url}/api/`;
  }
  /** Sockets that are open now. */
  get connections(): number {
    return this.#sockets.length;
  }

  /** What happens to the next call of this method. */
  next(method: string, misfortune: Misfortune): void {
    this.#next.set(method, [...(this.#next.get(method) ?? []), misfortune]);
  }

  /** An event as it is delivered, with an id of its own. */
  event(
    event: object,
    { id = `Ev${String((this.#events += 1)).padStart(9, '0')}` }: { readonly id?: string } = {},
  ): object {
    const { team, bot, app } = this.workspace;
    return {
      token: 'XXYYZZ',
      team_id: team,
      api_app_id: app,
      event,
      type: 'event_callback',
      authorizations: [{ team_id: team, user_id: bot, is_bot: true, is_enterprise_install: false }],
      event_id: id,
      event_time: 1_700_000_000,
    };
  }

  /** A line that a person says in a channel. */
  line(text: string, more: object = {}): object {
    const ts = `1700000001.${String((this.#events += 1)).padStart(6, '0')}`;
    return this.event({
      type: 'message',
      channel: 'C123ABC456',
      channel_type: 'channel',
      user: 'U061F7AUR',
      text,
      ts,
      ...more,
    });
  }

  signed(
    body: string,
    { secret = this.signingSecret, at = Math.floor(Date.now() / 1_000) } = {},
  ): Record<string, string> {
    const signature = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex');
    return { 'x-slack-request-timestamp': String(at), 'x-slack-signature': `v0=${signature}` };
  }

  /** Delivers JSON, or a form, as Slack does. */
  deliver(
    url: string,
    payload: object | URLSearchParams,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const isForm = payload instanceof URLSearchParams;
    const body = isForm ? payload.toString() : JSON.stringify(payload);
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    return fetch(url, { method: 'POST', headers: { 'content-type': type, ...this.signed(body), ...more }, body });
  }

  /** Sends an envelope over the newest socket; over the next one when there is none. Resolves to its id. */
  push(type: 'events_api' | 'interactive' | 'slash_commands', payload: unknown): string {
    const envelope = { envelope_id: randomUUID(), type, payload, attempt: 0 };
    this.#open.set(envelope.envelope_id, envelope);
    const socket = this.#sockets.at(-1);
    if (socket !== undefined) sendEnvelope(socket, envelope);
    return envelope.envelope_id;
  }

  /** Asks the sockets that are open to go, as Slack does every few hours. */
  disconnect(reason: string): void {
    for (const socket of this.#sockets) socket.send(JSON.stringify({ ...DISCONNECT, reason }));
  }

  /** Cuts all sockets without a word. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  /** Reads and answers nothing on the sockets that are open: a network that is gone without a word. */
  freeze(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await wholeBody(request);
    if (body === undefined) return;
    const { pathname } = new URL(request.url ?? '/', this.url);
    const [, root, ...rest] = pathname.split('/');
    if (root === 'api') return this.#api(rest.join('/'), request, response, body);
    const file = this.workspace.files.get((root === 'upload' ? rest[1] : rest[0]?.split('-')[1]) ?? '');
    if (root === 'upload' && file !== undefined) {
      file.bytes = body;
      response.writeHead(200).end(`OK - ${body.length}`);
    } else if (root === 'files-pri' && file !== undefined) {
      const isAllowed = request.headers.authorization === `Bearer ${this.botToken}`;
      if (isAllowed) return this.giveFile(response, { bytes: file.bytes, type: 'application/octet-stream' });
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Sign in to Example</html>');
    } else response.writeHead(404).end();
  }

  #api(method: string, request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const text = body.toString();
    const isJson = (request.headers['content-type'] ?? '').startsWith('application/json');
    const args =
      isJson && text !== '' ? flattened(JSON.parse(text) as object) : Object.fromEntries(new URLSearchParams(text));
    this.calls.push({ method, args });
    if (this.mute.has(method)) return;
    const left = this.left.get(method);
    if (left === 0) return void response.writeHead(429, { 'retry-after': '60' }).end();
    if (left !== undefined) this.left.set(method, left - 1);
    const [misfortune, ...others] = this.#next.get(method) ?? [];
    this.#next.set(method, others);
    if (typeof misfortune === 'object')
      return void response.writeHead(misfortune.status, misfortune.headers).end(misfortune.body ?? '');
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const reply = this.#reply(method, args, token);
    if (misfortune === 'drop') return void request.socket.destroy();
    const scopes = token === this.botToken ? { 'x-oauth-scopes': this.scopes } : {};
    response
      .writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...scopes })
      .end(JSON.stringify(reply));
  }

  #reply(method: string, args: Args, token: string | undefined): object {
    if (token === undefined && method !== 'api.test') return { ok: false, error: 'not_authed' };
    if (method === 'apps.connections.open') {
      if (token !== this.appToken)
        return { ok: false, error: token === this.botToken ? 'not_allowed_token_type' : 'invalid_auth' };
      const ticket = randomUUID();
      this.#tickets.add(ticket);
      const address = (this.front ?? this.url).replace('http', 'ws');
      return { ok: true, url: `${address}/link/?ticket=${ticket}&app_id=${this.workspace.app}` };
    }
    if (token !== this.botToken && method !== 'api.test') return { ok: false, error: 'invalid_auth' };
    const needed = NEEDED[method];
    return needed === undefined || this.scopes.split(',').includes(needed)
      ? this.workspace.answer(method, args)
      : { ok: false, error: 'missing_scope', needed, provided: this.scopes };
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const ticket = new URL(request.url ?? '/', this.url).searchParams.get('ticket') ?? '';
    if (!this.#tickets.delete(ticket)) return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
    this.#ws.handleUpgrade(request, socket, head, (opened) => {
      this.#sockets.push(opened);
      this.opened += 1;
      opened.on('close', () => this.#sockets.splice(this.#sockets.indexOf(opened), 1));
      opened.on('message', (data) => this.#acknowledge(String(data)));
      opened.send(JSON.stringify({ ...HELLO, num_connections: this.#sockets.length }));
      for (const envelope of this.#open.values()) this.#again(opened, envelope);
    });
  }

  /** P2. */
  #again(socket: WebSocket, envelope: Envelope): void {
    if (envelope.attempt === 0 && envelope.type !== 'events_api') return;
    const again = { ...envelope, attempt: envelope.attempt + 1 };
    this.#open.set(envelope.envelope_id, again);
    sendEnvelope(socket, again);
  }

  #acknowledge(text: string): void {
    const { envelope_id: id } = JSON.parse(text) as { readonly envelope_id: string };
    this.#open.delete(id);
    this.acknowledged.push(id);
  }
}

function sendEnvelope(socket: WebSocket, { attempt, ...envelope }: Envelope): void {
  const retry =
    envelope.type === 'events_api' ? { retry_attempt: attempt, retry_reason: attempt > 0 ? 'timeout' : '' } : {};
  socket.send(JSON.stringify({ ...envelope, accepts_response_payload: envelope.type !== 'events_api', ...retry }));
}

const flattened = (json: object): Args =>
  Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
