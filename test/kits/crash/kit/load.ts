// Mixed load on one worker, over all its lives: a fixed number of clients that always have a request open, and people who talk over IRC.
//
//   L1  A delivery is sent once. Only after its acknowledgement is a part of them sent again, on purpose: anything else would hide a loss.
//   L2  No more answers are owed than the accounts can send in a moment: beyond it clients deliver what needs no answer.
import { randomUUID } from 'node:crypto';
import type { FakeIrcServer } from '../../../support/fake-platforms/irc-server.ts';
import type { WebhookPlatform } from '../../../support/fake-platforms/webhook-platform.ts';
import type { Random } from './random.ts';
import type { CrashRecord, Delivery, Kind } from './record.ts';
import { slowPost } from './slow-post.ts';

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  readonly random: Random;
  readonly record: CrashRecord;
  readonly platform: WebhookPlatform;
  readonly irc: ReadonlyMap<string, FakeIrcServer>;
  readonly clients: number;
  /** How long a client thinks between two deliveries; default: not at all. */
  readonly pauseMs?: number;
}

export const WEBHOOK_ACCOUNTS = ['shop', 'desk'] as const;
const TRANSIT_MS = 40;
const RETRY_MS = 5;
const MOST_OWED = 50;
const CONVERSATIONS = 40;
const IRC_LINE_EVERY_MS = 80;
const REPEATED = 0.08;

interface Request {
  readonly delivery: Parameters<CrashRecord['add']>[0];
  readonly path: string;
  /** Made anew for each time that it is sent: they hold a signature of that time. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly body: string;
}

export class Load {
  readonly #options: LoadOptions;
  readonly #running: Promise<void>[] = [];
  readonly #people: NodeJS.Timeout[] = [];
  #stopped = false;
  #cut = 0;
  #open = 0;
  #owed = 0;
  #count = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  start(): void {
    for (let index = 0; index < this.#options.clients; index += 1) this.#running.push(this.#client());
    for (const [endpoint, server] of this.#options.irc)
      this.#people.push(setInterval(() => this.#talk(endpoint, server), IRC_LINE_EVERY_MS));
  }

  /** Requests that ended without an answer, because the worker died under them. */
  get cut(): number {
    return this.#cut;
  }
  /** No request has a connection. */
  get isCut(): boolean {
    return this.#open === 0;
  }

  /** No new delivery; resolves when no request is open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#people) clearInterval(timer);
    await Promise.all(this.#running);
  }

  async #client(): Promise<void> {
    const { random, record, pauseMs = 0 } = this.#options;
    let request: Request | undefined;
    while (!this.#stopped) {
      request ??= random.chance(0.6) ? this.#webhook() : this.#sandbox();
      const delivery = await this.#send(request);
      if (delivery?.fate !== 'acknowledged') await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (delivery === undefined) continue; // nobody listens: the same one again, since nothing of it was sent
      if (delivery.fate === 'acknowledged' && random.chance(REPEATED)) {
        delivery.isRepeated = true;
        const end = await this.#post(request);
        if (end.kind === 'answered' && end.status < 300 && /"duplicates":0|"duplicate":false/.test(end.body))
          record.fault(`a repeat of ${delivery.token} was taken as new: ${end.body}`);
      }
      request = undefined;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #send(request: Request): Promise<Delivery | undefined> {
    const { record } = this.#options;
    let delivery: Delivery | undefined;
    const end = await this.#post(request, () => {
      delivery = record.add(request.delivery);
    });
    if (delivery === undefined) return undefined;
    if (end.kind !== 'answered') record.end(delivery, 'cut');
    else if (end.status >= 200 && end.status < 300) record.end(delivery, 'acknowledged');
    else if (end.isStale) record.refuse(delivery, 'signature_of_another_time');
    else if (end.status === 503) record.refuse(delivery, /"code":"(\w+)"/.exec(end.body)?.[1] ?? 'unknown');
    else record.fault(`delivery ${delivery.token} was answered ${end.status}: ${end.body.slice(0, 200)}`);
    if (delivery.fate !== 'acknowledged') this.#owe(delivery, -1);
    return delivery;
  }

  async #post(
    { path, headers, body }: Request,
    connected: () => void = () => {},
  ): Promise<Awaited<ReturnType<typeof slowPost>>> {
    const { url, random } = this.#options;
    let isOpen = false;
    const begin = (): void => {
      isOpen = true;
      this.#open += 1;
      connected();
    };
    const end = await slowPost({
      url: `${url}${path}`,
      headers: headers(),
      body,
      transitMs: random.between(0, TRANSIT_MS),
      connected: begin,
    });
    if (isOpen) this.#open -= 1;
    if (end.kind === 'cut') this.#cut += 1;
    return end;
  }

  #webhook(): Request {
    const { platform, random } = this.#options;
    const account = random.pick(WEBHOOK_ACCOUNTS);
    const kind =
      this.#owed - platform.posts.size > MOST_OWED
        ? 'plain'
        : random.pick<Kind>(['echo', 'echo', 'plain', 'plain', 'plain', 'plain', 'ping', 'remind']);
    const token = this.#token();
    // An answer without the token is told by its conversation.
    const conversation =
      kind === 'echo' || kind === 'plain' ? `${account}-${random.between(1, CONVERSATIONS)}` : `${account}-${token}`;
    const text = textOf(kind, token);
    const id = `evt_${randomUUID()}`;
    const payload = { conversation: { id: conversation }, user: { id: 'ann' }, text };
    const delivery = {
      via: 'webhook',
      endpoint: `root/webhook:webhook~${account}`,
      deliveryId: id,
      conversation,
      kind,
      text,
      token,
    } as const;
    this.#owe(delivery, 1);
    return {
      delivery,
      path: `/webhooks/webhook/${account}`,
      headers: () => platform.sign(id, payload).headers,
      body: JSON.stringify(payload),
    };
  }

  #sandbox(): Request {
    const { random, token: bearer } = this.#options;
    const kind = random.pick<Kind>(['echo', 'plain', 'plain']);
    const token = this.#token();
    const person = `p${Math.floor(this.#count / 400)}-${random.between(1, 8)}`;
    const text = textOf(kind, token);
    return {
      delivery: {
        via: 'sandbox',
        endpoint: 'root/sandbox:sandbox',
        deliveryId: `${person}:${token}`,
        conversation: `dm-${person}`,
        kind,
        text,
        token,
      },
      path: '/api/chat/say',
      headers: () => ({ authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }),
      body: JSON.stringify({ person, text, delivery: token }),
    };
  }

  #talk(endpoint: string, server: FakeIrcServer): void {
    const { random, record } = this.#options;
    const [person, token] = [`u${random.between(1, 12)}`, this.#token()];
    const text = textOf('echo', token);
    const line = server.say(person, text, `${token}-${server.port}`);
    if (line === undefined) return;
    record.add(
      { via: 'irc', endpoint, deliveryId: line.msgid, conversation: person, kind: 'echo', text, token },
      'written',
    );
  }

  #token(): string {
    this.#count += 1;
    return `T${this.#count.toString(36)}X`; // in no other one: digits and small letters are between
  }

  #owe({ via, kind }: Pick<Delivery, 'via' | 'kind'>, sign: 1 | -1): void {
    if (via === 'webhook') this.#owed += sign * answersTo(kind);
  }
}

/** How many messages follow from one delivery. */
export function answersTo(kind: Kind): number {
  switch (kind) {
    case 'plain':
      return 0;
    case 'echo':
    case 'ping':
      return 1;
    case 'remind':
      return 2;
  }
}

function textOf(kind: Kind, token: string): string {
  switch (kind) {
    case 'plain':
      return `good morning ${token}`;
    case 'echo':
      return `/echo ${token}`;
    case 'ping':
      return '/ping';
    case 'remind':
      return `/remind 2s ${token}`;
  }
}
