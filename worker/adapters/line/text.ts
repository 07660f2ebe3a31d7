// Converts texts of LINE in both directions. Pure.
//
//   LINE-TEXT-1  Incoming: mentions have UTF-16 positions. `@All`, and people who let the bot see them, become mentions. Others stay text. LINE's own
//                emojis stay as written, `(love)`.
//   LINE-TEXT-2  Outgoing: LINE has no markup. A rendered text uses the syntax of `textV2`: `{U…}` and `{all}` are mentions. Literal braces are
//                doubled, so literal text never mentions.

import type { Rich, Segment } from '../../sdk/index.ts';
import { plainText } from '../../sdk/message.ts';
import { countAt, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { BEHIND_NAME, isUnseen } from '../../sdk/text/unseen-edges.ts';

interface Heard {
  readonly segments: readonly Segment[];
  readonly isToBot: boolean;
  /** Names of people as this text shows them, by id. */
  readonly names: readonly (readonly [user: string, name: string])[];
}

/** Reads mentions in a text and removes a leading mention of the bot. */
export function heard(said: Json, bot: readonly (string | undefined)[]): Heard {
  const text = textAt(said, 'text') ?? '';
  const mentions = mentionsIn(said, text.length);
  const segments: Segment[] = [];
  const names: [string, string][] = [];
  let isToBot = false;
  let from = 0;
  for (const { index, length, user, isSelf } of mentions) {
    const isBot = isSelf || (user !== undefined && bot.includes(user));
    const before = text.slice(from, index);
    isToBot ||= isBot;
    if (isBot && isUnseen(text.slice(0, index))) {
      from = index + length + (BEHIND_NAME.exec(text.slice(index + length))?.[0].length ?? 0);
      continue;
    }
    if (user === undefined) continue;
    if (before !== '') segments.push({ kind: 'text', text: before });
    if (user !== 'everyone') names.push([user, text.slice(index, index + length).replace(/^@/, '')]);
    segments.push({ kind: 'mention', user: user === 'everyone' ? user : { endpoint: '', id: user } });
    from = index + length;
  }
  if (from < text.length) segments.push({ kind: 'text', text: text.slice(from) });
  return { segments, isToBot, names };
}

interface Mentioned {
  readonly index: number;
  readonly length: number;
  readonly user: string | undefined;
  readonly isSelf: boolean;
}

/** Mentions in order of position. Those outside the text or overlapping another are ignored. */
function mentionsIn(said: Json, size: number): readonly Mentioned[] {
  let end = 0;
  return listAt(objectAt(said, 'mention'), 'mentionees')
    .map((one) => ({
      index: countAt(one, 'index') ?? -1,
      length: countAt(one, 'length') ?? 0,
      user: one['type'] === 'all' ? 'everyone' : textAt(one, 'userId'),
      isSelf: one['isSelf'] === true,
    }))
    .toSorted((a, b) => a.index - b.index)
    .filter(({ index, length }) => {
      const isInside = index >= end && length > 0 && index + length <= size;
      if (isInside) end = index + length;
      return isInside;
    });
}

/** Renders to the syntax of `textV2`, with literal braces doubled. */
export function render({ segments }: Rich): string {
  let out = '';
  for (const [i, segment] of segments.entries()) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    if (isBlock && out !== '' && !out.endsWith('\n')) out += '\n';
    const text = rendered(segment);
    out += isBlock && i < segments.length - 1 && !text.endsWith('\n') ? `${text}\n` : text;
  }
  return out;
}

function rendered(segment: Segment): string {
  if (segment.kind === 'mention') {
    if (segment.user === 'everyone') return '{all}';
    if (isPerson(segment.user.id)) return `{${segment.user.id}}`;
  }
  return escape(segment.kind === 'code' ? segment.text.replace(/\n$/, '') : plainText([segment]));
}

export const isPerson = (id: string): boolean => /^U[0-9a-f]{32}$/.test(id);
const escape = (text: string): string => text.replace(/[{}]/g, '$&$&');

/** A piece of a rendered text: literal text, or a mentioned person. */
export type Piece = string | { readonly mentioned: string };

export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let literal = '';
  for (const [found, who] of text.matchAll(/\{\{|\}\}|\{(U[0-9a-f]{32}|all)\}|[^{}]+|[{}]/g)) {
    if (who === undefined) literal += found === '{{' || found === '}}' ? found.slice(1) : found;
    else {
      if (literal !== '') pieces.push(literal);
      literal = '';
      pieces.push({ mentioned: who });
    }
  }
  return literal === '' ? pieces : [...pieces, literal];
}
