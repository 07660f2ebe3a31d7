// A conversation with the bot through the sandbox, for `svc chat`: sends lines, presses buttons, and shows new messages.
//
//   Each line has its own delivery id, so that a retry is never handled twice. A line is answered when its item and all its sends have ended.
//   The event stream only wakes the client up; messages are read from the conversation.
import { randomUUID } from 'node:crypto';
import type { ChatMessageOnWire, ChatMessages } from '../../../shared/api/chat.ts';
import type { IngressState } from '../../../shared/api/runtime.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import { queryOf } from '../options.ts';
import { printable } from '../output/printable.ts';
import { followEvents, type StreamMessage } from './event-follower.ts';

export interface ChatPlace {
  readonly person: string;
  readonly room: string | undefined;
}

export interface ChatLine extends ChatMessageOnWire {
  /** The message was shown before and has changed since. */
  readonly changed: boolean;
}

export interface ChatSink {
  line(line: ChatLine): void;
  note(text: string): void;
}

/** State of a line: its item and its sends. */
interface Progress {
  sends: number | undefined;
  ended: number;
  dead: boolean;
}

const TYPES =
  'inbox.done,inbox.dead,inbox.held,inbox.dropped,outbox.sent,outbox.dead,outbox.unknown,outbox.held,outbox.dropped';
const PROGRESS_KEPT = 1_000;

export class ChatSession {
  readonly #context: Pick<CommandContext, 'host' | 'signal'>;
  readonly #place: ChatPlace;
  readonly #sink: ChatSink;
  readonly #progress = new Map<string, Progress>();
  readonly #seen = new Set<string>();
  /** Time of the newest earlier message. */
  #startedAt = '';
  readonly #over = new AbortController();
  readonly #waiting = new Set<() => void>();
  #buttons: ChatLine | undefined;
  /** Undefined: read the newest messages. */
  #cursor: number | undefined;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #toldPause = false;

  constructor(context: Pick<CommandContext, 'host' | 'signal'>, place: ChatPlace, sink: ChatSink) {
    this.#context = context;
    this.#place = place;
    this.#sink = sink;
  }

  /** Skips earlier messages and starts to listen. Throws the host's errors and `not_running`. */
  async start(): Promise<void> {
    const { messages, cursor } = await this.#read();
    this.#cursor = cursor;
    for (const { id, at } of messages) {
      this.#seen.add(id);
      if (at > this.#startedAt) this.#startedAt = at;
    }
    const signal = AbortSignal.any([this.#context.signal, this.#over.signal]);
    await new Promise<void>((resolve, reject) => {
      const followed = followEvents(
        { host: this.#context.host, signal },
        { types: TYPES },
        {
          message: (message) => {
            if (message.event === 'svc.live') resolve();
            this.#onEvent(message);
            return undefined;
          },
          lost: (why) => this.#sink.note(`${why}; trying again`),
        },
      );
      followed.then(() => resolve(), reject);
    });
  }

  stop(): void {
    this.#over.abort();
  }

  /** Sends a line. `:<number>` presses a button of the newest message with buttons. False if it failed or was not answered in time. */
  async say(text: string, waitMs: number): Promise<boolean> {
    const pressed = /^:(\d{1,2})$/.exec(text);
    const item = pressed === null ? await this.#post('/api/chat/say', { text }) : await this.#press(Number(pressed[1]));
    return item === undefined || this.#answered(item, waitMs);
  }

  async #press(number: number): Promise<string | undefined> {
    const button = this.#buttons?.buttons[number - 1];
    if (this.#buttons === undefined || button === undefined) {
      this.#sink.note(`there is no button ${number}`);
      return undefined;
    }
    return this.#post('/api/chat/press', { message: this.#buttons.id, token: button.token });
  }

  async #post(path: string, body: object): Promise<string> {
    const host = await this.#context.host();
    const delivery = randomUUID();
    const answer = await host.request('POST', path, {
      body: { ...this.#placeFields(), ...body, delivery },
      idempotencyKey: delivery,
    });
    return String((answer.body as { readonly id: unknown }).id);
  }

  async #answered(item: string, waitMs: number): Promise<boolean> {
    const isOver = (): boolean => {
      const progress = this.#progress.get(item);
      return (
        progress !== undefined && (progress.dead || (progress.sends !== undefined && progress.ended >= progress.sends))
      );
    };
    const inTime = await this.#until(isOver, waitMs);
    await this.#poll();
    if (this.#progress.get(item)?.dead !== true) {
      if (!inTime && !this.#context.signal.aborted) await this.#tellPause();
      return inTime;
    }
    this.#sink.note(`the line could not be handled: svc inbox show ${item}`);
    return false;
  }

  /** Explains that ingress is paused, so no answer comes. Once for each pause. */
  async #tellPause(): Promise<void> {
    const host = await this.#context.host();
    const { state, reason } = (await host.request('GET', '/api/system/ingress')).body as IngressState;
    const why = reason == null ? '' : ` (${printable(reason)})`;
    if (state === 'paused' && !this.#toldPause)
      this.#sink.note(
        `ingress is paused${why}: what is said is kept, and handled once \`svc ingress resume\` opens it`,
      );
    this.#toldPause = state === 'paused';
  }

  #until(test: () => boolean, waitMs: number): Promise<boolean> {
    if (test()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (result: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        this.#context.signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const look = (): void => void (test() && end(true));
      const onAbort = (): void => end(false);
      const timer = setTimeout(() => end(false), waitMs);
      this.#waiting.add(look);
      this.#context.signal.addEventListener('abort', onAbort);
    });
  }

  #onEvent({ event, data: envelope }: StreamMessage): void {
    const data = (envelope['data'] ?? {}) as Readonly<Record<string, unknown>>;
    if (event.startsWith('inbox.')) {
      const progress = this.#progressOf(String(data['item']));
      if (event === 'inbox.done') progress.sends = Number(data['sends'] ?? 0);
      else progress.dead = true;
    } else if (event.startsWith('outbox.')) {
      const item = data['from'] ?? envelope['causationid'];
      if (typeof item === 'string') this.#progressOf(item).ended += 1;
      void this.#poll().catch((error: unknown) =>
        this.#sink.note(error instanceof SvcError ? error.message : String(error)),
      );
    }
    for (const look of this.#waiting) look();
  }

  #progressOf(item: string): Progress {
    const known = this.#progress.get(item) ?? { sends: undefined, ended: 0, dead: false };
    this.#progress.set(item, known);
    const oldest = this.#progress.keys().next();
    if (this.#progress.size > PROGRESS_KEPT && oldest.done !== true) this.#progress.delete(oldest.value);
    return known;
  }

  /** Shows new messages. Calls during a run cause one more run. */
  #poll(): Promise<void> {
    this.#pollAgain = true;
    this.#polling ??= this.#pollAll().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #pollAll(): Promise<void> {
    while (this.#pollAgain) {
      this.#pollAgain = false;
      const { messages, cursor, more } = await this.#read();
      this.#cursor = Math.max(this.#cursor ?? 0, cursor);
      this.#pollAgain ||= more;
      for (const message of messages) this.#show(message);
    }
  }

  #show(message: ChatMessageOnWire): void {
    const changed = this.#seen.has(message.id) || message.at < this.#startedAt;
    this.#seen.add(message.id);
    const line = { ...message, changed };
    if (message.buttons.length > 0) this.#buttons = line;
    if (changed || message.from !== this.#place.person) this.#sink.line(line);
  }

  async #read(): Promise<ChatMessages> {
    const host = await this.#context.host();
    const { body } = await host.request(
      'GET',
      `/api/chat/messages${queryOf({ ...this.#placeFields(), after: this.#cursor })}`,
    );
    return body as ChatMessages;
  }

  #placeFields(): { readonly person: string; readonly room?: string } {
    const { person, room } = this.#place;
    return room === undefined ? { person } : { person, room };
  }
}
