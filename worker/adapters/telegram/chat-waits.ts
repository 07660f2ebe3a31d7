// Whose limit a 429 was. Telegram has one for each chat and one for the bot, and its answers do not say which was met.
//
//   W1  A chat that is told to wait has met its own limit: a full group would otherwise hold everyone.
//   W2  A second chat that is told to wait meanwhile shows that it is the limit of the bot: nothing of it goes out meanwhile, yet
//       no longer than MOST_WHOLE_MS: they may as well be two full groups, each with its own limit, which may be long. What the bot is told after that
//       shows it.
import type { SendResult } from '../../sdk/index.ts';

const MOST_WHOLE_MS = 5_000;

export class ChatWaits {
  readonly #until = new Map<string, number>();

  /** What becomes of a send to this chat that has to wait; `now` is monotonic ms. */
  later(chat: string, afterMs: number, now: number): SendResult {
    for (const [known, until] of this.#until) if (until <= now) this.#until.delete(known);
    this.#until.set(chat, now + afterMs);
    const whole = { account: true, ...(afterMs > MOST_WHOLE_MS ? { accountMs: MOST_WHOLE_MS } : {}) } as const;
    return { kind: 'later', afterMs, ...(this.#until.size > 1 ? whole : {}) };
  }
}
