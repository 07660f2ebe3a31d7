// Reads our own sent messages that a run changes.
import type { Core } from '../../core/core.ts';
import { readSentMessage, type SentMessage } from '../../outbox/sent-message.ts';
import type { Effect } from '../run/run.ts';

/** Messages of earlier runs that these effects change, by key. */
export async function readSentMessages(
  core: Core,
  effects: readonly Effect[],
): Promise<ReadonlyMap<string, SentMessage>> {
  const messages = new Map<string, SentMessage>();
  const own = new Set(effects.flatMap((effect) => (effect.kind === 'send' ? [effect.key] : [])));
  for (const effect of effects) {
    const key = 'message' in effect && 'sent' in effect.message ? effect.message.sent : undefined;
    if (key === undefined || own.has(key) || messages.has(key)) continue;
    const message = await readSentMessage(core.reader, key);
    if (message !== undefined) messages.set(key, message);
  }
  return messages;
}
