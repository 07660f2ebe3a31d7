// A hidden mark in each post: an HTML comment derived from the send's idempotency key. GitHub has no idempotency keys of its own.
// After an attempt without a result, the newest comments are searched for the mark. A found comment is not posted again. Pure.
import { createHash } from 'node:crypto';

/** Characters that a mark adds to a text. */
export const MARK_SIZE = 37;

const markOf = (key: string): string =>
  `<!-- svc ${createHash('sha256').update(key).digest('base64url').slice(0, 22)} -->`;

/** A comment of the bot that a person edits still contains the mark. The lookbehind keeps matching linear in a run of spaces. */
export const withoutMarks = (text: string): string => text.replaceAll(/(?<!\s)\s*<!-- svc [\w-]{22} -->/g, '');

export const withMark = (text: string, key: string): string => `${text}\n\n${markOf(key)}`;

export const hasMark = (text: string | null | undefined, key: string): boolean =>
  text?.trimEnd().endsWith(markOf(key)) === true;
