// Turns the content of a handler into parts that a platform can show: degraded, rendered, split. Pure: equal content gives equal parts.
//
//   COMPOSE-1  Missing features of a platform are degraded in the same way for every adapter. Too few buttons: a numbered list. No edits: a new
//              message. No replies: the prefix "name: ". No threads: the channel. No `only`: a private conversation, or in public with the name. No
//              files, or a file that is too large: a link. Content that cannot be degraded becomes a refused part with its reason; the rest is sent.
//   COMPOSE-2  Parts are in order. The first has the reply; the last has buttons, files and menu. An edit changes as many parts as the message has
//              and posts the rest. Files that the platform takes only in separate calls come as parts after those.
//   COMPOSE-3  Text is rendered by the adapter's format, with literal text escaped. No part exceeds the platform's limit.
//   COMPOSE-4  A message has at most MOST_PARTS parts. Longer text is cut, and the last part says so.
//   COMPOSE-5  Labels and names (of files, of people) hold no control, bidirectional or invisible characters. Such characters could make them look
//              like another text.

import { plainName } from '../../shared/log/visible-text.ts';
import type { Can, FilesApart } from '../sdk/adapter.ts';
import type { FileRef, MessageRef, Segment, UserRef } from '../sdk/message.ts';
import { split } from './split.ts';

/** The stored form of a body. Buttons have tokens; their data is in the database. */
export interface StoredContent {
  readonly segments: readonly Segment[];
  readonly buttons: readonly StoredButton[];
  readonly files: readonly FileRef[];
  readonly replyTo?: MessageRef;
  readonly thread?: MessageRef;
  readonly only?: UserRef;
}
export interface StoredButton {
  readonly label: string;
  readonly token: string;
  readonly style?: 'primary' | 'danger';
}

export interface Where {
  /** True if only the bot and one person read there. */
  readonly private: boolean;
  /** Default 'post'. */
  readonly kind?: 'post' | 'edit';
  /** Number of parts of the edited message on the platform. Default 1. */
  readonly parts?: number;
  /** Author of the message that is replied to, for platforms without replies. */
  readonly replyName?: string;
  /** Name of the person in `only`, for platforms without it. Default: the id. */
  readonly onlyName?: string;
  /** The conversation in which only that person reads, if the adapter knows one. */
  readonly direct?: string;
  /** A signed link to a file; undefined if the host has no public address. */
  fileUrl?(file: FileRef): string | undefined;
}

export interface SendPart {
  readonly kind: 'post' | 'edit';
  readonly text: string;
  readonly buttons: readonly StoredButton[];
  readonly files: readonly FileRef[];
  readonly replyTo?: MessageRef;
  readonly thread?: MessageRef;
  readonly only?: UserRef;
  /** Destination instead of the original conversation: the private conversation of `only`. */
  readonly conversation?: string;
  /** Tokens of the numbered list. A bare number from anyone in the conversation presses that button. */
  readonly menu?: readonly string[];
  /** Files that are sent in a separate call. */
  readonly isBehind?: true;
  /** A part of an edit beyond those that the message had. */
  readonly isMore?: true;
  /** The text exceeded MOST_PARTS. Its end is left out, and this part says so. */
  readonly isCut?: true;
}
export interface RefusedPart {
  readonly kind: 'refused';
  readonly reason: string;
}
export type ComposedPart = SendPart | RefusedPart;

/** More parts would only fill the lane of the conversation. */
export const MOST_PARTS = 20;
const CUT = '… (cut: this is too long to be shown here)';

/** The parts to send, in order. At least one, which may be refused. */
export function compose(given: StoredContent, can: Can, where: Where): readonly ComposedPart[] {
  const audience = placeAudience(given.only, can, where);
  const content = audience.address.conversation === undefined ? given : elsewhere(given);
  const files = placeFiles(content.files.map(plainlyNamed), can, where);
  const buttons = placeButtons(content.buttons.map(plainlyLabelled), can);
  const said = [...audience.prefix, ...replyPrefix(content.replyTo, can, where), ...content.segments];
  const { texts, isCut } = textsOf(said, [...files.links, ...buttons.list], can.text);
  if (texts === undefined) return [refuse(`nothing fits into ${can.text.limit} ${can.text.unit}`), ...files.refused];
  if (texts.length === 0 && files.attached.length === 0 && buttons.shown.length === 0) {
    return files.refused.length > 0 ? files.refused : [refuse('the message is empty')];
  }

  const edited = where.kind === 'edit' && can.edit === true ? (where.parts ?? 1) : 0;
  const isBare = texts.length === 0 && buttons.shown.length === 0;
  const { withText, behind } = apartOf(texts.at(-1) ?? '', files.attached, { can, isEdit: edited > 0, isBare });
  const parts = (texts.length === 0 ? [''] : texts).map((text, i, { length }): SendPart => {
    const isLast = i === length - 1;
    return {
      kind: i < edited ? 'edit' : 'post',
      ...(edited > 0 && i >= edited ? { isMore: true } : {}),
      text,
      buttons: isLast ? buttons.shown : [],
      files: isLast ? withText : [],
      ...(i === 0 && can.replies === true && content.replyTo !== undefined ? { replyTo: content.replyTo } : {}),
      ...(can.threads === true && content.thread !== undefined ? { thread: content.thread } : {}),
      ...audience.address,
      ...(isLast && buttons.menu !== undefined ? { menu: buttons.menu } : {}),
      ...(isLast && isCut ? { isCut } : {}),
    };
  });
  const [first] = parts;
  const more = behind.map((some): SendPart => ({ ...base(first), files: some, isBehind: true }));
  return [...parts, ...more, ...files.refused];
}

const plainlyNamed = (file: FileRef): FileRef => ({ ...file, name: plainName(file.name) });
const plainlyLabelled = (button: StoredButton): StoredButton => ({ ...button, label: plainName(button.label) });

/** Destination fields of a part, for a part with files alone. */
const base = ({ thread, only, conversation }: Partial<SendPart> = {}): Omit<SendPart, 'files'> => ({
  kind: 'post',
  text: '',
  buttons: [],
  ...(thread === undefined ? {} : { thread }),
  ...(only === undefined ? {} : { only }),
  ...(conversation === undefined ? {} : { conversation }),
});

/**
 * Splits files into those sent with the text and those in separate calls. An edit never makes separate calls. A message without text and buttons
 * begins with its files.
 */
function apartOf(
  text: string,
  files: readonly FileRef[],
  { can, isEdit, isBare }: { readonly can: Can; readonly isEdit: boolean; readonly isBare: boolean },
): FilesApart {
  const apart = files.length === 0 || isEdit ? undefined : can.files?.apart?.(text, files);
  if (apart === undefined) return { withText: files, behind: [] };
  const [first = [], ...behind] = apart.behind;
  return isBare && apart.withText.length === 0 ? { withText: first, behind } : apart;
}

/** Drops reply and thread, which belong to the original conversation. */
const elsewhere = ({ replyTo: _reply, thread: _thread, ...content }: StoredContent): StoredContent => content;

interface Texts {
  /** Undefined if not even one character fits. */
  readonly texts: readonly string[] | undefined;
  readonly isCut?: true;
}

/** Renders and splits the text. Links and lists are kept even if the text is cut. */
function textsOf(said: readonly Segment[], blocks: readonly (readonly Segment[])[], limits: Can['text']): Texts {
  const texts = split(joinBlocks([said, ...blocks]), limits, MOST_PARTS + 1);
  if (texts === undefined || texts.length <= MOST_PARTS) return { texts };
  const end = split(joinBlocks([[plain(CUT)], ...blocks]), limits, MOST_PARTS / 2) ?? [];
  const begin = split(said, limits, MOST_PARTS - end.length) ?? [];
  return { texts: [...begin, ...end], isCut: true };
}

const refuse = (reason: string): RefusedPart => ({ kind: 'refused', reason });
const plain = (text: string): Segment => ({ kind: 'text', text });

function placeButtons(
  buttons: readonly StoredButton[],
  can: Can,
): { shown: readonly StoredButton[]; list: readonly (readonly Segment[])[]; menu: readonly string[] | undefined } {
  if (buttons.length <= (can.buttons ?? 0)) return { shown: buttons, list: [], menu: undefined };
  const lines = buttons.map(({ label }, i) => `${i + 1}) ${label}`);
  return { shown: [], list: [[plain(lines.join('\n'))]], menu: buttons.map(({ token }) => token) };
}

interface PlacedFiles {
  readonly attached: readonly FileRef[];
  readonly links: readonly (readonly Segment[])[];
  readonly refused: readonly RefusedPart[];
}

function placeFiles(files: readonly FileRef[], can: Can, where: Where): PlacedFiles {
  const attached: FileRef[] = [];
  const links: Segment[][] = [];
  const refused: RefusedPart[] = [];
  for (const file of files) {
    const url = where.fileUrl?.(file);
    if (takesFile(file, can, url)) {
      attached.push(file);
      continue;
    }
    if (url === undefined) refused.push(refuse(noFile(file, can, where)));
    else links.push([{ kind: 'link', text: file.name, url }]);
  }
  return { attached, links, refused };
}

function takesFile({ bytes, mime }: FileRef, { files }: Can, url: string | undefined): boolean {
  if (files === undefined || bytes > files.maxBytes || !takesType(mime, files.types)) return false;
  return files.byLink !== true || url?.startsWith('https://') === true;
}

const takesType = (mime: string, types: readonly string[] | undefined): boolean =>
  types?.includes(mime.split(';')[0]?.trim().toLowerCase() ?? '') !== false;

function noFile(file: FileRef, { files }: Can, { fileUrl }: Where): string {
  const isTaken = files !== undefined && files.byLink !== true && takesType(file.mime, files.types);
  const reason = isTaken
    ? `${file.name} has ${file.bytes} bytes, the platform takes ${files.maxBytes}`
    : `the platform takes no ${files === undefined || files.byLink === true ? 'files' : file.mime}: ${file.name}`;
  return fileUrl === undefined ? reason : `${reason}; a link to it needs http.publicUrl and a stored file`;
}

function placeAudience(
  only: UserRef | undefined,
  can: Can,
  where: Where,
): { prefix: readonly Segment[]; address: Pick<SendPart, 'only' | 'conversation'> } {
  if (only === undefined || where.private) return { prefix: [], address: {} };
  if (can.only === true) return { prefix: [], address: { only } };
  if (where.direct !== undefined) return { prefix: [], address: { conversation: where.direct } };
  return { prefix: [plain(`${plainName(where.onlyName ?? only.id)}: `)], address: {} };
}

function replyPrefix(replyTo: MessageRef | undefined, can: Can, where: Where): readonly Segment[] {
  if (replyTo === undefined || can.replies === true || where.private || where.replyName === undefined) return [];
  return [plain(`${plainName(where.replyName)}: `)];
}

/** Joins blocks; each link or list begins on a new line. */
function joinBlocks(blocks: readonly (readonly Segment[])[]): readonly Segment[] {
  const out: Segment[] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    const isOnNewLine =
      last === undefined ||
      last.kind === 'code' ||
      last.kind === 'quote' ||
      (last.kind === 'text' && last.text.endsWith('\n'));
    if (block.length > 0 && !isOnNewLine) out.push(plain('\n'));
    out.push(...block);
  }
  return out;
}
