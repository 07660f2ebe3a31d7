// Words of a message: its text, forwarded messages, and what an app lays out in blocks and attachments without a text. Pure.
//
//   SLACK-ATTACHMENTS-1  A forwarded message is an attachment with `is_share` that holds its text and files.
//                        The outer text is the sender's own and may be empty. An unfurled link to a message is not forwarded content.
//   SLACK-ATTACHMENTS-2  Blocks and other attachments hold what an app shows in place of a text. Such content counts only if the text is empty:
//                        else the text says the same.

import type { Segment } from '../../sdk/index.ts';
import { plainText } from '../../sdk/message.ts';
import { type Json, listAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { attachmentLines, blockLines, joinedLines } from './block-words.ts';
import { plainOf, segmentsOf } from './text.ts';

const forwardedIn = (spoken: Json): readonly Json[] =>
  listAt(spoken, 'attachments').filter((one) => one['is_share'] === true);

/** The text, followed by forwarded messages as quotes. */
export function wordsIn(spoken: Json): readonly Segment[] {
  const own = segmentsOf(textAt(spoken, 'text') ?? '');
  const quotes = forwardedIn(spoken).flatMap((one): readonly Segment[] => {
    const text = textAt(one, 'text');
    const words = text === undefined ? plainText(joinedLines(attachmentLines(one))) : plainOf(text);
    return words === '' ? [] : [{ kind: 'quote', text: words }];
  });
  if (quotes.length > 0) return own.length === 0 ? quotes : [...lineEnded(own), ...quotes];
  return own.length === 0 ? laidOut(spoken) : own;
}

/** Files of the message itself, then those of forwarded messages. */
export const filesIn = (spoken: Json): readonly Json[] =>
  [spoken, ...forwardedIn(spoken)].flatMap((one) => listAt(one, 'files'));

function lineEnded(segments: readonly Segment[]): readonly Segment[] {
  const last = segments.at(-1);
  if (last?.kind === 'text') return [...segments.slice(0, -1), { ...last, text: `${last.text}\n` }];
  return [...segments, { kind: 'text', text: '\n' }];
}

/** What an app shows in place of a text: its blocks, then its attachments. */
const laidOut = (spoken: Json): readonly Segment[] =>
  joinedLines([...blockLines(listAt(spoken, 'blocks')), ...listAt(spoken, 'attachments').flatMap(attachmentLines)]);
