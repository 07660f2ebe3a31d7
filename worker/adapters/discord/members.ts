// Completes messages from a channel's history with the authors' roles and names in the server. History lacks them, while live messages contain them.
// Each author who addressed the bot is asked for once, because some commands are for administrators only.

import { asObject, type Json, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { looksLikeCommand } from '../../sdk/text/command-sign.ts';
import { type Context, isMeant } from './parse.ts';

export class Members {
  readonly #ask: (path: `/${string}`) => Promise<unknown>;
  readonly #known = new Map<string, Json>();

  constructor(ask: (path: `/${string}`) => Promise<unknown>) {
    this.#ask = ask;
  }

  /** The messages in the same order, with `member` added if the message addresses the bot. */
  async completed(messages: readonly Json[], context: Context): Promise<readonly Json[]> {
    const whole: Json[] = [];
    for (const message of messages)
      whole.push(isWish(message, context) ? { ...message, member: await this.#memberOf(message) } : message);
    return whole;
  }

  async #memberOf(message: Json): Promise<Json> {
    const path = `/guilds/${textAt(message, 'guild_id')}/members/${textAt(objectAt(message, 'author'), 'id')}` as const;
    const member = this.#known.get(path) ?? asObject(await this.#ask(path));
    this.#known.set(path, member);
    return member;
  }
}

function isWish(message: Json, context: Context): boolean {
  const author = objectAt(message, 'author');
  const isPerson = textAt(author, 'id') !== undefined && author['bot'] !== true && !('webhook_id' in message);
  const isInServer = textAt(message, 'guild_id') !== undefined;
  return isPerson && isInServer && (looksLikeCommand(textAt(message, 'content') ?? '') || isMeant(message, context));
}
