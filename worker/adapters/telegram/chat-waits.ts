// Decides whose rate limit a 429 was. Telegram has a limit for each chat and one for the bot, and its answer does not tell which.
//
//   TELEGRAM-CHAT-WAITS-1  A single waiting chat counts as its own limit. Otherwise one busy group would hold back every chat.
//   TELEGRAM-CHAT-WAITS-2  A second waiting chat at the same time counts as the bot's limit, so the whole account waits.
//                          The account waits at most MOST_WHOLE_MS, because the chats may be two busy groups with long limits.
//                          If it was the bot's limit, the next send shows that.
import type { SendResult } from '../../sdk/index.ts';
import { askedWaitMs } from '../../sdk/platform/asked-wait.ts';

const MOST_WHOLE_MS = 5_000;

export class ChatWaits {
  readonly #until = new Map<string, number>();

  /** Result of a send that this chat must delay. `now` is monotonic ms. */
  later(chat: string, afterMs: number, now: number): SendResult {
    for (const [known, until] of this.#until) if (until <= now) this.#until.delete(known);
    this.#until.set(chat, now + askedWaitMs(afterMs));
    const whole = { account: true, ...(afterMs > MOST_WHOLE_MS ? { accountMs: MOST_WHOLE_MS } : {}) } as const;
    return { kind: 'later', afterMs, ...(this.#until.size > 1 ? whole : {}) };
  }
}
