// Telegram accepts 20 messages a minute for a group. The host's rate applies to all conversations alike, so groups are counted here.

const MOST = 20;
const WINDOW_MS = 60_000;

export class GroupRate {
  readonly #sent = new Map<string, readonly number[]>();

  /** Time until the next message may go to this group, in ms; 0 for private chats. `now` is monotonic ms. */
  waitMs(chat: string, now: number): number {
    const recent = this.#recent(chat, now);
    const oldest = recent.at(-MOST);
    return oldest === undefined ? 0 : oldest + WINDOW_MS - now;
  }

  sent(chat: string, now: number): void {
    if (!isGroup(chat)) return;
    this.#sent.set(chat, [...this.#recent(chat, now), now]);
    if (this.#sent.size > 1_000) for (const known of this.#sent.keys()) this.#forget(known, now);
  }

  #recent(chat: string, now: number): readonly number[] {
    return (this.#sent.get(chat) ?? []).filter((at) => at > now - WINDOW_MS);
  }

  #forget(chat: string, now: number): void {
    if (this.#recent(chat, now).length === 0) this.#sent.delete(chat);
  }
}

const isGroup = (chat: string): boolean => chat.startsWith('-') || chat.startsWith('@');
