// A client of the event stream that lives through every death of the worker: it resumes with the last id that it has whole, and checks what
// the contract promises it. Each event once, in order, without a hole.
import { type ClientRequest, get } from 'node:http';

export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  readonly endpoint: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface FollowerOptions {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly onEvent?: (event: SeenEvent) => void;
  /** Cuts its own connection after so many events. */
  readonly restless?: () => number;
}

const RETRY_MS = 10;

export class StreamFollower {
  readonly faults: string[] = [];
  /** `type subject` by position. */
  readonly seen = new Map<number, string>();
  readonly #options: FollowerOptions;
  #epoch: string | undefined;
  #last: number | undefined;
  #connects = 0;
  #untilCut = Number.POSITIVE_INFINITY;
  #request: ClientRequest | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#connect();
  }

  /** Position of the newest event; 0 before the first. */
  get last(): number {
    return this.#last ?? 0;
  }
  get connects(): number {
    return this.#connects;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#request?.destroy();
  }

  #connect(): void {
    if (this.#closed) return;
    const { url, token, restless } = this.#options;
    const resume = this.#last === undefined ? {} : { 'last-event-id': `${this.#epoch}.${this.#last}` };
    this.#untilCut = restless?.() ?? Number.POSITIVE_INFINITY;
    const request = get(`${url}/api/events`, {
      agent: false,
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...resume },
    });
    this.#request = request;
    let over = false;
    const again = (): void => {
      if (over || this.#closed) return;
      over = true;
      this.#timer = setTimeout(() => this.#connect(), RETRY_MS);
    };
    request.on('error', again);
    request.on('close', again);
    request.on('response', (response) => {
      if (response.statusCode !== 200) return void response.resume();
      this.#connects += 1;
      let rest = '';
      response.setEncoding('utf8');
      response.on('error', again);
      response.on('data', (chunk: string) => {
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) if (!over && !this.#closed) this.#take(block, request);
      });
    });
  }

  #take(block: string, request: ClientRequest): void {
    if (block.startsWith(':')) return;
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    const type = field('event') ?? '';
    const data = JSON.parse(field('data') ?? '{}') as Record<string, unknown>;
    if (type === 'svc.hello') this.#hello(data);
    else if (type === 'svc.gap') this.#fault(`was told of a gap: ${JSON.stringify(data)}`);
    else if (!type.startsWith('svc.')) this.#event(type, field('id') ?? '', data);
    this.#untilCut -= 1;
    if (this.#untilCut <= 0) request.destroy();
  }

  #hello({ epoch, head }: Readonly<Record<string, unknown>>): void {
    if (this.#epoch !== undefined && epoch !== this.#epoch)
      this.#fault(`epoch went from ${this.#epoch} to ${String(epoch)}`);
    if (this.#last !== undefined && Number(head) < this.#last)
      this.#fault(`event ids went back: head is ${String(head)}, event ${this.#last} was seen`);
    this.#epoch = String(epoch);
    this.#last ??= Number(head);
  }

  #event(type: string, id: string, envelope: Readonly<Record<string, unknown>>): void {
    const seq = Number(id.split('.')[1]);
    const due = (this.#last ?? 0) + 1;
    if (seq !== due) this.#fault(`event ${seq} came where ${due} was due`);
    this.#last = Math.max(seq, this.#last ?? 0);
    const data = (envelope['data'] ?? {}) as Record<string, unknown>;
    this.seen.set(seq, fingerprint(type, envelope));
    this.#options.onEvent?.({ seq, type, endpoint: envelope['endpoint'] as string | undefined, data });
  }

  #fault(text: string): void {
    if (this.faults.length < 20) this.faults.push(`${this.#options.name} ${text}`);
  }
}

/** What must be the same when the event is read again later. */
export const fingerprint = (type: string, envelope: Readonly<Record<string, unknown>>): string =>
  `${type} ${String(envelope['subject'] ?? '')} ${String(envelope['time'] ?? '')}`;
