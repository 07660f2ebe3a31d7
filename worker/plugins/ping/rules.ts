// Text of the ping plugin's answer. Pure.
import { showDuration } from '../../sdk/index.ts';
import { pingTexts } from '../../sdk/text/chat-texts.ts';

/** `waitedMs`: time from receipt of the line to its handling. */
export function pongText(waitedMs: number, texts = pingTexts('en')): string {
  const ms = Math.max(0, Math.round(waitedMs));
  return texts.pong(ms < 1_000 ? `${ms} ms` : showDuration(Math.round(ms / 1_000) * 1_000));
}
