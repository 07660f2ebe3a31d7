// What a message holds beside its text: messages that were forwarded with it, and the words of an app that has no others. Pure.
//
//   A1  A forwarded message is an attachment with `is_share`, its text and files in it; the text of the message is what was written above it, or
//       nothing. A link to a message that Slack has unfolded is none: its words were not said again.
//   A2  Other attachments are what an app shows in place of a text, and count where there is none.

import type { Segment } from '../../sdk/index.ts';
import { type Json, listAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { plainOf, segmentsOf } from './text.ts';

const forwardedIn = (spoken: Json): readonly Json[] =>
  listAt(spoken, 'attachments').filter((one) => one['is_share'] === true);

/** What was said, with what was forwarded as quotes behind it. */
export function wordsIn(spoken: Json): readonly Segment[] {
  const own = segmentsOf(textAt(spoken, 'text') ?? '');
  const quotes = forwardedIn(spoken).flatMap((one): readonly Segment[] => {
    const text = textAt(one, 'text') ?? textAt(one, 'fallback');
    return text === undefined ? [] : [{ kind: 'quote', text: plainOf(text) }];
  });
  if (quotes.length > 0) return own.length === 0 ? quotes : [...lineEnded(own), ...quotes];
  return own.length === 0 ? segmentsOf(attached(spoken)) : own;
}

/** Of the message itself, then of those that were forwarded. */
export const filesIn = (spoken: Json): readonly Json[] =>
  [spoken, ...forwardedIn(spoken)].flatMap((one) => listAt(one, 'files'));

function lineEnded(segments: readonly Segment[]): readonly Segment[] {
  const last = segments.at(-1);
  if (last?.kind === 'text') return [...segments.slice(0, -1), { ...last, text: `${last.text}\n` }];
  return [...segments, { kind: 'text', text: '\n' }];
}

/** A2. */
const attached = (spoken: Json): string =>
  listAt(spoken, 'attachments')
    .map((one) => {
      const words = ['pretext', 'title', 'text'].flatMap((key) => textAt(one, key) ?? []);
      return words.length > 0 ? words.join('\n') : (textAt(one, 'fallback') ?? '');
    })
    .filter((words) => words !== '')
    .join('\n');
