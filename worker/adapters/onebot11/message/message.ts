// Turns an incoming message, in either of OneBot's forms, into text with mentions, files and the message it answers. Pure.
//
//   ONEBOT11-MESSAGE-1  Pieces without text (a face, card, position or forward) are named in brackets or by their link. Nothing is dropped silently.
//   ONEBOT11-MESSAGE-2  A leading mention of the bot makes the message addressed, and is removed from the text.

import type { FileRef, Segment } from '../../../sdk/index.ts';
import { isObject, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { BEFORE_WORDS, isUnseen } from '../../../sdk/text/unseen-edges.ts';
import { type Piece, parseCq } from './cq-code.ts';
import { fileOf, isFileKind } from './file-name.ts';
import { idAt } from './json.ts';

export interface Said {
  readonly text: string | readonly Segment[];
  readonly files: readonly FileRef[];
  readonly replyTo: string | undefined;
  /** Whether the bot is mentioned. */
  readonly isMeant: boolean;
}

export interface SaidWhere {
  readonly self: string | undefined;
  readonly group: string | undefined;
}

export function readMessage(message: unknown, { self, group }: SaidWhere): Said {
  const segments: Segment[] = [];
  const files: FileRef[] = [];
  let replyTo: string | undefined;
  let isMeant = false;
  for (const piece of piecesOf(message)) {
    const { type, data } = piece;
    const qq = idAt(data, 'qq');
    if (type === 'reply') replyTo ??= idAt(data, 'id');
    else if (type === 'at' && qq !== undefined && qq === self) {
      isMeant = true;
      if (!isBlank(segments)) segments.push(mentionOf(qq));
    } else if (isFileKind(type)) files.push(fileOf(type, data, group));
    else segments.push(...segmentsOf(piece, qq));
  }
  return { text: joined(trimmed(segments, isMeant)), files, replyTo, isMeant };
}

/** Accepts the string form, the list form, or a single piece. */
export function piecesOf(message: unknown): readonly Piece[] {
  if (typeof message === 'string') return parseCq(message);
  const list = Array.isArray(message) ? message : [message];
  return list.filter(isObject).flatMap((one) => {
    const type = textAt(one, 'type');
    return type === undefined ? [] : [{ type, data: objectAt(one, 'data') }];
  });
}

const plain = (text: string): Segment => ({ kind: 'text', text });
/** The host fills in the account's endpoint. */
const mentionOf = (id: string): Segment => ({ kind: 'mention', user: { endpoint: '', id } });

function segmentsOf({ type, data }: Piece, qq: string | undefined): readonly Segment[] {
  switch (type) {
    case 'text':
      return [plain(textAt(data, 'text') ?? '')];
    case 'at':
      if (qq === 'all') return [{ kind: 'mention', user: 'everyone' }];
      return [qq === undefined ? plain('@') : mentionOf(qq)];
    case 'share':
    case 'music': {
      const url = textAt(data, 'url');
      return url === undefined ? [plain(`[${type}]`)] : [{ kind: 'link', text: textAt(data, 'title') ?? url, url }];
    }
    case 'markdown':
      return [plain(textAt(data, 'content') ?? '')];
    case 'location':
      return [plain(`[location ${idAt(data, 'lat') ?? '?'}, ${idAt(data, 'lon') ?? '?'}]`)];
    default: {
      const id = idAt(data, 'id');
      const isNamed = id !== undefined && ['face', 'forward', 'contact', 'poke'].includes(type);
      return [plain(isNamed ? `[${type} ${id}]` : `[${type.slice(0, 32)}]`)];
    }
  }
}

const isBlank = (segments: readonly Segment[]): boolean =>
  segments.every((one) => one.kind === 'text' && isUnseen(one.text));

/** Removes a leading mention of the bot and the space after it. */
function trimmed(segments: readonly Segment[], isMeant: boolean): readonly Segment[] {
  const begin = segments.findIndex((one) => one.kind !== 'text' || !isUnseen(one.text));
  const [first, ...others] = begin < 1 ? segments : segments.slice(begin);
  return isMeant && first?.kind === 'text' ? [plain(first.text.replace(BEFORE_WORDS, '')), ...others] : segments;
}

function joined(segments: readonly Segment[]): string | readonly Segment[] {
  return segments.every((one) => one.kind === 'text') ? segments.map((one) => one.text).join('') : segments;
}
