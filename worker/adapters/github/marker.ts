// A mark in what is posted, which nobody sees: an HTML comment made of the send's key. GitHub knows no idempotency keys, so after an
// attempt without a result the newest comments are searched for it, and what is found is not posted again. Pure.
import { createHash } from 'node:crypto';

/** What a mark adds to a text. */
export const MARK_SIZE = 37;

const markOf = (key: string): string =>
  `<!-- svc ${createHash('sha256').update(key).digest('base64url').slice(0, 22)} -->`;

/** Somebody who edits a comment of the bot leaves its mark there. A run of blanks is looked at once, from where it begins. */
export const withoutMarks = (text: string): string => text.replaceAll(/(?<!\s)\s*<!-- svc [\w-]{22} -->/g, '');

export const withMark = (text: string, key: string): string => `${text}\n\n${markOf(key)}`;

export const hasMark = (text: string | null | undefined, key: string): boolean =>
  text?.trimEnd().endsWith(markOf(key)) === true;
