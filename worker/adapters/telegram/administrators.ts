// Administrators of a group. Updates do not contain them, so Telegram is asked and the answer kept for five minutes.
//
//   TELEGRAM-ADMINISTRATORS-1  Polling asks before it stores the updates. A webhook never waits for an answer.
//                              Until the answer, nobody is an administrator of an unknown group.
import type { Update } from 'grammy/types';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import { looksLikeCommand } from '../../sdk/text/command-sign.ts';

const KEPT_MS = 300_000;
const MOST_GROUPS = 1_000;

/** Ids of a group's administrators. */
export type AskGroup = (chat: string) => Promise<readonly string[]>;

export class Administrators {
  readonly #known = new Map<string, { readonly ids: ReadonlySet<string>; readonly until: number }>();
  readonly #asked = new Map<string, Promise<void>>();
  /** Set while the account is connected. */
  #ask: AskGroup | undefined;

  open(ask: AskGroup): void {
    this.#ask = ask;
  }
  close(ask: AskGroup): void {
    if (this.#ask === ask) this.#ask = undefined;
  }

  /** Answers from memory and asks about an unknown group in the background. */
  has(chat: string, user: string, now: number): boolean {
    const known = this.#known.get(chat);
    if (known === undefined || known.until <= now) void this.#learn(chat, now);
    return known?.ids.has(user) === true;
  }

  /** Resolves when the groups of these updates are looked up or the lookup failed. Never rejects. */
  async prepare(updates: readonly Update[], now: number): Promise<void> {
    const chats = new Set(updates.flatMap((update) => groupAsking(update) ?? []));
    const unknown = [...chats].filter((chat) => (this.#known.get(chat)?.until ?? 0) <= now);
    await Promise.all(unknown.map((chat) => this.#learn(chat, now)));
  }

  /** At most one lookup for each group at a time. Never rejects: after a failure the previous answer stays, else nobody is an administrator. */
  #learn(chat: string, now: number): Promise<void> {
    const asked = this.#asked.get(chat);
    if (asked !== undefined || this.#ask === undefined) return asked ?? Promise.resolve();
    const asking = this.#ask(chat)
      .then(
        (ids) => this.#keep(chat, new Set(ids), now),
        () => this.#keep(chat, this.#known.get(chat)?.ids ?? new Set(), now),
      )
      .finally(() => this.#asked.delete(chat));
    this.#asked.set(chat, asking);
    return asking;
  }

  #keep(chat: string, ids: ReadonlySet<string>, now: number): void {
    keepNewest(this.#known, [chat, { ids, until: now + KEPT_MS }], MOST_GROUPS);
  }
}

/** The group in which a person wants something of a bot: by a command, a mention, a reply to a bot or a button. */
export function groupAsking({ message, callback_query: pressed }: Update): string | undefined {
  const chat = message?.chat ?? pressed?.message?.chat;
  if (chat?.type !== 'group' && chat?.type !== 'supergroup') return undefined;
  const marks = message?.entities ?? message?.caption_entities ?? [];
  const wants =
    pressed !== undefined ||
    marks.some(({ type }) => /^(?:bot_command|mention)$/.test(type)) ||
    looksLikeCommand(message?.text ?? message?.caption ?? '') ||
    message?.reply_to_message?.from?.is_bot === true;
  return wants ? String(chat.id) : undefined;
}
