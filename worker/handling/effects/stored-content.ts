// Stored form of a handler's content, for the outbox and the table of buttons.

import { wellFormed } from '../../../shared/log/well-formed.ts';
import type { StoredContent } from '../../outbox/compose.ts';
import type { Content, Segment } from '../../sdk/index.ts';
import type { StoredButton } from '../handling-store.ts';

/** Half characters become U+FFFD before a platform's renderer sees them. */
export const storedOf = (content: Content, buttons: StoredContent['buttons']): StoredContent =>
  wellFormed({
    segments: segmentsOf(content),
    buttons,
    files: content.files ?? [],
    ...(content.replyTo === undefined ? {} : { replyTo: content.replyTo }),
    ...(content.thread === undefined ? {} : { thread: content.thread }),
    ...(content.only === undefined ? {} : { only: content.only }),
  });

type Made = readonly { readonly button: { action: string; data: unknown; label: string }; readonly token: string }[];

export const storedButtons = (made: Made, menu: readonly string[]): StoredButton[] =>
  made.map(({ button, token }) => {
    const number = menu.indexOf(token);
    const { action, label, data } = button;
    return { token, action, data: JSON.stringify(data ?? null), label, menu: number < 0 ? null : number + 1 };
  });

function segmentsOf({ text }: Content): readonly Segment[] {
  if (text === undefined) return [];
  return typeof text === 'string' ? [{ kind: 'text', text }] : text.segments;
}
