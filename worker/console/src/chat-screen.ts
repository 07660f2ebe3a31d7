// The conversation: loads it, follows the event stream from the load's position, and loads changes after each event.
//
//   CONSOLE-CHAT-1  The page subscribes from the position returned by the load, so no event is missed. After a gap everything is loaded anew.
//   CONSOLE-CHAT-2  While the stream is down, the page says so and marks the messages as stale. Text sent meanwhile waits for the host.
//   CONSOLE-CHAT-3  A refused token leads back to the sign-in form. Unsent text is kept.

import { type ApiClient, type Fault } from './api-client.ts';
import { button, element } from './elements.ts';
import { type EventStream, followEvents, type StreamState } from './event-stream.ts';
import { MessageList } from './message-list.ts';
import { newDelivery, Outgoing } from './outgoing.ts';
import { visibleName } from './render-text.ts';
import { messageOf } from './sign-in-screen.ts';
import type { Frame } from './sse-parser.ts';

export interface ChatOptions {
  readonly api: ApiClient;
  readonly person: string;
  readonly draft: string;
  token(): string;
  /** `notice` is undefined if the person signed out. */
  onSignedOut(notice: string | undefined, draft: string): void;
}

const STATES: Readonly<Record<StreamState, string>> = {
  connecting: 'Connecting…',
  live: 'Connected',
  lost: 'Connection lost. Trying again…',
};
const EVENTS = 'inbox.received,outbox.sent';
const COALESCE_MS = 50;
const RETRY_MS = 1_000;

export class ChatScreen {
  readonly node: HTMLElement;
  readonly #options: ChatOptions;
  readonly #list: MessageList;
  readonly #outgoing = new Outgoing();
  readonly #state = element('p', {
    class: 'state hint',
    text: STATES.connecting,
    attributes: { role: 'status', 'data-state': 'connecting' },
  });
  readonly #notice = element('p', { class: 'fault quiet', attributes: { role: 'alert' } });
  readonly #input = element('textarea', {
    attributes: {
      rows: '1',
      maxlength: '20000',
      name: 'line',
      placeholder: '/help',
      enterkeyhint: 'send',
      dir: 'auto',
    },
  });
  #stream: EventStream | undefined;
  /** Undefined if the newest messages must be loaded. */
  #cursor: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLoading = false;
  #isStale = false;
  #isClosed = false;

  constructor(options: ChatOptions) {
    this.#options = options;
    this.#list = new MessageList({ person: options.person, onPress: (message, token) => this.#press(message, token) });
    this.#input.value = options.draft;
    this.node = this.#layout();
    addEventListener('online', this.#wake);
    document.addEventListener('visibilitychange', this.#wake);
    void this.#load();
  }

  focus(): void {
    this.#input.focus();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#stream?.close();
    this.#outgoing.close();
    removeEventListener('online', this.#wake);
    document.removeEventListener('visibilitychange', this.#wake);
  }

  #layout(): HTMLElement {
    const { person } = this.#options;
    const form = element('form', { class: 'compose' }, [
      element('label', {}, ['Message', this.#input]),
      element('button', { class: 'main', text: 'Send', attributes: { type: 'submit' } }),
    ]);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    const signOut = button('Sign out', () => this.#leave(undefined));
    const header = element('header', {}, [
      element('h1', { text: 'svc chat' }),
      this.#state,
      element('span', { class: 'hint' }, ['as ', element('bdi', { text: visibleName(person) })]),
      signOut,
    ]);
    return element('div', { class: 'screen' }, [
      header,
      element('main', { class: 'talk' }, [this.#list.node, this.#notice, form]),
    ]);
  }

  #submit(): void {
    const text = this.#input.value;
    if (text.trim() === '') return;
    this.#input.value = '';
    this.#say(text);
    this.focus();
  }

  #say(text: string): void {
    const { api, person } = this.#options;
    const delivery = newDelivery();
    const shown = this.#list.add(delivery, text);
    this.#outgoing.add({
      delivery,
      text,
      send: () => api.say({ person, text, delivery }),
      onTaken: () => this.#loadSoon(),
      onWaiting: () => shown.waiting(),
      onFailed: (fault) => {
        if (fault.status === 401) this.#leave(messageOf(fault));
        else shown.failed(reasonOf(fault), () => this.#say(text));
      },
    });
  }

  #press(message: string, token: string): void {
    const { api, person } = this.#options;
    this.#outgoing.add({
      delivery: newDelivery(),
      send: (delivery) => api.press({ person, message, token, delivery }),
      onTaken: () => this.#loadSoon(),
      onWaiting: () => {},
      onFailed: (fault) => {
        if (fault.status === 401) this.#leave(messageOf(fault));
        else this.#tell(`The button did not work: ${reasonOf(fault)}`);
      },
    });
    this.focus();
  }

  async #load(): Promise<void> {
    if (this.#isLoading) {
      this.#isStale = true;
      return;
    }
    this.#isLoading = true;
    this.#isStale = false;
    const { api, person } = this.#options;
    const answer = await api.messages(person, this.#cursor);
    this.#isLoading = false;
    if (this.#isClosed) return;
    if (!answer.ok) return this.#onLoadFailed(answer.fault);
    const { messages, cursor, more, older } = answer.value;
    this.#list.update(messages, older);
    this.#cursor = Math.max(this.#cursor ?? 0, cursor);
    this.#tell('');
    if (this.#stream === undefined) this.#follow(answer.position);
    if (this.#isStale || more) this.#loadSoon(more ? 0 : COALESCE_MS);
  }

  #onLoadFailed(fault: Fault): void {
    if (fault.status === 401 || fault.status === 403) return this.#leave(messageOf(fault));
    if (fault.status !== 0) this.#tell(`The messages could not be loaded: ${reasonOf(fault)}`);
    this.#loadSoon(fault.retryAfterMs ?? RETRY_MS);
  }

  #loadSoon(delayMs = COALESCE_MS): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#load(), delayMs);
  }

  #follow(from: string | undefined): void {
    this.#list.announce();
    const url = this.#options.api.url(`api/events?types=${EVENTS}`);
    this.#stream = followEvents({
      url,
      from,
      token: () => this.#options.token(),
      onFrame: (frame) => this.#onFrame(frame),
      onState: (state) => this.#onState(state),
      onRefused: (status) =>
        this.#leave(messageOf({ status, code: '', title: '', requestId: undefined, retryAfterMs: undefined })),
    });
  }

  #onFrame({ event }: Frame): void {
    if (event === 'svc.gap') this.#cursor = undefined;
    if (event === 'svc.gap' || event === 'svc.hello' || !event.startsWith('svc.')) this.#loadSoon();
  }

  #onState(state: StreamState): void {
    if (this.#isClosed) return;
    this.#state.setAttribute('data-state', state);
    if (this.#state.textContent !== STATES[state]) this.#state.textContent = STATES[state];
    this.#list.stale = state !== 'live';
    if (state === 'live') this.#outgoing.wake();
  }

  readonly #wake = (): void => {
    if (document.visibilityState === 'visible') this.#stream?.wake();
  };

  #tell(text: string): void {
    this.#notice.textContent = text;
    this.#notice.classList.toggle('quiet', text === '');
  }

  /** Signs out once, whether the stream or a call noticed the refused token first. Unsent text is kept for the form. */
  #leave(notice: string | undefined): void {
    if (this.#isClosed) return;
    const unsent = this.#outgoing.unsent();
    this.close();
    this.#options.onSignedOut(
      notice,
      notice === undefined ? '' : [...unsent, this.#input.value].filter((text) => text !== '').join('\n'),
    );
  }
}

const reasonOf = ({ title, requestId }: Fault): string =>
  `${title}${requestId === undefined ? '' : ` (request ${requestId})`}`;
