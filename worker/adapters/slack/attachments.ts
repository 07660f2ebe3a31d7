// Attachments of a message: forwarded messages, and content that an app sends without a text. Pure.
//
//   SLACK-ATTACHMENTS-1  A forwarded message is an attachment with `is_share` that holds its text and files.
//                        The outer text is the sender's own and may be empty. An unfurled link to a message is not forwarded content.
//   SLACK-ATTACHMENTS-2  Other attachments hold what an app shows in place of a text. Such content counts only if the text is empty.

import type { Segment } from '../../sdk/index.ts';
import { type Json, listAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { plainOf, segmentsOf } from './text.ts';

const forwardedIn = (spoken: Json): readonly Json[] =>
  listAt(spoken, 'attachments').filter((one) => one['is_share'] === true);

/** The text, followed by forwarded messages as quotes. */
export function wordsIn(spoken: Json): readonly Segment[] {
  const own = segmentsOf(textAt(spoken, 'text') ?? '');
  const quotes = forwardedIn(spoken).flatMap((one): readonly Segment[] => {
    const text = textAt(one, 'text') ?? textAt(one, 'fallback');
    return text === undefined ? [] : [{ kind: 'quote', text: plainOf(text) }];
  });
  if (quotes.length > 0) return own.length === 0 ? quotes : [...lineEnded(own), ...quotes];
  return own.length === 0 ? segmentsOf(attached(spoken)) : own;
}

/** Files of the message itself, then those of forwarded messages. */
export const filesIn = (spoken: Json): readonly Json[] =>
  [spoken, ...forwardedIn(spoken)].flatMap((one) => listAt(one, 'files'));

function lineEnded(segments: readonly Segment[]): readonly Segment[] {
  const last = segments.at(-1);
  if (last?.kind === 'text') return [...segments.slice(0, -1), { ...last, text: `${last.text}\n` }];
  return [...segments, { kind: 'text', text: '\n' }];
}

/** Text of an app's attachments, used if the message has none. */
const attached = (spoken: Json): string =>
  listAt(spoken, 'attachments')
    .map((one) => {
      const words = ['pretext', 'title', 'text'].flatMap((key) => textAt(one, key) ?? []);
      return words.length > 0 ? words.join('\n') : (textAt(one, 'fallback') ?? '');
    })
    .filter((words) => words !== '')
    .join('\n');
