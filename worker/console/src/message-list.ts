// The conversation's messages on the page: those of the host, followed by those still being sent.
//
//   CONSOLE-LIST-1  A changed message keeps its position, and only changed messages are rendered again.
//   CONSOLE-LIST-2  The newest message stays in view while the reader is at the end. A reader further up is not moved.
//   CONSOLE-LIST-3  The page holds at most 300 messages and says so when older ones are left out.
import type { ChatMessageOnWire } from '../../../shared/api/chat.ts';
import { button, element } from './elements.ts';
import { literalText, markdownText, visibleName } from './render-text.ts';

export interface MessageListOptions {
  readonly person: string;
  onPress(message: string, token: string): void;
}
export interface Pending {
  waiting(): void;
  failed(reason: string, again: () => void): void;
}

const MAX_SHOWN = 300;
const AT_END_PX = 80;
const BOT_ID = /^sandbox-/;

export class MessageList {
  readonly node: HTMLElement;
  readonly #options: MessageListOptions;
  readonly #older = element('p', {
    class: 'older',
    text: 'Older messages are not shown.',
    attributes: { hidden: true },
  });
  readonly #shown = new Map<string, { readonly n: number; readonly at: string; readonly node: HTMLElement }>();
  readonly #pending = new Map<string, HTMLElement>();

  constructor(options: MessageListOptions) {
    this.#options = options;
    // Not announced to screen readers until the history is loaded, so that only new messages are read aloud.
    this.node = element(
      'div',
      {
        class: 'messages',
        attributes: { role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation', tabindex: '0' },
      },
      [this.#older],
    );
  }

  /** Shows the host's messages; unknown ones go to the end. `older` says that the host has earlier messages it did not send. */
  update(messages: readonly ChatMessageOnWire[], older: boolean): void {
    const { node } = this;
    const isAtEnd = node.scrollHeight - node.scrollTop - node.clientHeight < AT_END_PX;
    for (const message of messages) this.#place(message);
    this.#trim();
    if (older) this.#older.hidden = false;
    if (isAtEnd) node.scrollTop = node.scrollHeight;
  }

  announce(): void {
    this.node.setAttribute('aria-live', 'polite');
  }

  set stale(isStale: boolean) {
    this.node.setAttribute('data-stale', String(isStale));
  }

  /** Shows a line being sent. The host's own copy replaces it later. */
  add(delivery: string, text: string): Pending {
    const progress = element('p', { class: 'progress', text: 'Sending…' });
    const card = element('div', { class: 'message', attributes: { 'data-own': 'true' } }, [
      who(this.#options.person, undefined),
      element('div', { class: 'body' }, [literalText(text)]),
      progress,
    ]);
    this.#pending.set(delivery, card);
    this.node.append(card);
    this.node.scrollTop = this.node.scrollHeight;
    return {
      waiting: () => progress.replaceChildren('The host does not answer yet. Trying again…'),
      failed: (reason, again) =>
        progress.replaceChildren(
          `Not sent: ${reason} `,
          button('Try again', () => {
            this.#drop(delivery);
            again();
          }),
        ),
    };
  }

  #place(message: ChatMessageOnWire): void {
    const before = this.#shown.get(message.id);
    if (before?.n === message.n || (before === undefined && this.#isLeftOut(message))) return;
    const node = this.#card(message);
    this.#shown.set(message.id, { n: message.n, at: message.at, node });
    if (before !== undefined) before.node.replaceWith(node);
    else {
      for (const delivery of this.#pending.keys()) if (message.id.endsWith(`:${delivery}`)) this.#drop(delivery);
      const firstPending = this.#pending.values().next().value;
      this.node.insertBefore(node, firstPending ?? null);
    }
  }

  #card(message: ChatMessageOnWire): HTMLElement {
    const isBot = BOT_ID.test(message.id);
    const card = element('div', {
      class: 'message',
      attributes: { 'data-id': message.id, 'data-own': String(!isBot && message.from === this.#options.person) },
    });
    card.append(who(message.from, message.at));
    if (message.removed) card.append(element('p', { class: 'removed', text: 'This message was removed.' }));
    else
      card.append(element('div', { class: 'body' }, isBot ? markdownText(message.text) : [literalText(message.text)]));
    if (message.buttons.length > 0) card.append(this.#buttons(message));
    const reactions = message.reactions.map(visibleName).join(' ');
    if (reactions !== '')
      card.append(
        element('p', {
          class: 'reactions',
          text: reactions,
          attributes: { 'aria-label': `Reactions: ${reactions}`, role: 'note' },
        }),
      );
    return card;
  }

  #buttons({ id, buttons }: ChatMessageOnWire): HTMLElement {
    return element(
      'div',
      { class: 'buttons' },
      buttons.map(({ label, token, style }) =>
        button(visibleName(label), () => this.#options.onPress(id, token), {
          ...(style === undefined ? {} : { class: style }),
          attributes: { dir: 'auto' },
        }),
      ),
    );
  }

  #drop(delivery: string): void {
    this.#pending.get(delivery)?.remove();
    this.#pending.delete(delivery);
  }

  /** Whether an unknown message is older than all messages on the page, which happens if an old one changes. */
  #isLeftOut({ at }: ChatMessageOnWire): boolean {
    const first = this.#shown.values().next().value;
    return !this.#older.hidden && first !== undefined && at < first.at;
  }

  #trim(): void {
    for (const [id, { node }] of this.#shown) {
      if (this.#shown.size <= MAX_SHOWN) return;
      node.remove();
      this.#shown.delete(id);
      this.#older.hidden = false;
    }
  }
}

function who(from: string, at: string | undefined): HTMLElement {
  const time =
    at === undefined
      ? []
      : [
          element('time', {
            text: new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }),
            attributes: { datetime: at },
          }),
        ];
  return element('div', { class: 'who' }, [element('bdi', { text: visibleName(from) }), ...time]);
}
