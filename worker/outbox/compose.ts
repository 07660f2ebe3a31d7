// From what a handler said to what a platform can show: degraded, rendered, split. Pure: the same content gives the same parts.
//
//   K1  What the platform lacks is degraded the same for every adapter: no buttons (or fewer) a numbered list, no edit a new
//       message, no replies "name: ", no threads the channel, no `only` a private message or the open with the name, no files
//       (or smaller ones) a link. What cannot be degraded is a refused part with its reason; the rest goes out.
//   K2  Parts are in order. A reply is on the first, buttons, files and menu are on the last. An edit changes
//       as many parts as the message has, and posts what is more. Files of a post that the platform takes in calls of their own are parts
//       behind those.
//   K3  All text is rendered by the adapter's format, with everything literal escaped, and no part is over its limit.
//   K4  One message has at most MOST_PARTS parts: what is longer is cut, and says so.
//   K5  Labels, names of files and of people hold no control, no mark of the direction of writing and nothing that no font shows: they stand
//       beside each other, and could show another text than they are.

import { plainName } from '../../shared/log/visible-text.ts';
import type { Can, FilesApart } from '../sdk/adapter.ts';
import type { FileRef, MessageRef, Segment, UserRef } from '../sdk/message.ts';
import { split } from './split.ts';

/** What is stored of a body: its buttons have tokens, their data is in the database. */
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
  /** Only the bot and one person read there. */
  readonly private: boolean;
  /** Default 'post'. */
  readonly kind?: 'post' | 'edit';
  /** In how many parts the message lies there that is edited. Default 1. */
  readonly parts?: number;
  /** Who wrote the message that is replied to, for platforms without replies. */
  readonly replyName?: string;
  /** Who `only` is, for platforms without it. Default: the id. */
  readonly onlyName?: string;
  /** The conversation in which `only` reads alone, where the adapter knows one. */
  readonly direct?: string;
  /** A signed link to a file, where the host has an address that people can open. */
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
  /** Goes there instead: the private conversation of `only`. */
  readonly conversation?: string;
  /** Tokens of the numbered list: the bare number, from anyone there, is the press. */
  readonly menu?: readonly string[];
  /** Files in a call of their own. */
  readonly isBehind?: true;
  /** An edit has more parts than the message had. */
  readonly isMore?: true;
  /** The text was longer than MOST_PARTS: its end is left out, and this part says so. */
  readonly isCut?: true;
}
export interface RefusedPart {
  readonly kind: 'refused';
  readonly reason: string;
}
export type ComposedPart = SendPart | RefusedPart;

/** Most parts of one message: nobody reads more, and the lane would be full of it. */
export const MOST_PARTS = 20;
const CUT = '… (cut: this is too long to be shown here)';

/** The parts to send, in order; at least one, which may be a refused one. */
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

/** Where the parts of a post go, and nothing else of them. */
const base = ({ thread, only, conversation }: Partial<SendPart> = {}): Omit<SendPart, 'files'> => ({
  kind: 'post',
  text: '',
  buttons: [],
  ...(thread === undefined ? {} : { thread }),
  ...(only === undefined ? {} : { only }),
  ...(conversation === undefined ? {} : { conversation }),
});

/** An edit adds its files to what it changes, or is refused; where it is a new message, that is a post. A bare one begins with its files. */
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

/** What it answers to, and the thread that it is in, are not where it goes. */
const elsewhere = ({ replyTo: _reply, thread: _thread, ...content }: StoredContent): StoredContent => content;

interface Texts {
  /** Undefined when nothing fits. */
  readonly texts: readonly string[] | undefined;
  readonly isCut?: true;
}

/** K4. Links and lists are shown whatever is cut. */
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

/** Blocks below each other: links and lists begin on a line of their own. */
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
