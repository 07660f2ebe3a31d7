// Validates what a handler says; plugins may be plain JavaScript. A wrong body could show as "undefined", be stored with a wrong type, or reach
// everyone instead of one person. Written by hand for speed, because every answer passes here. Error texts hold no user content.
import { SvcError } from '../../../shared/svc-error.ts';
import type { Body, Content } from '../../sdk/index.ts';
import { toContent } from '../../sdk/message.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The body in its long form. Throws `plugin_failed` with the field and the expectation. */
export function checkedContent(handler: string, body: unknown): Content {
  const fault = bodyFault(body);
  if (fault === undefined) return toContent(body as Body);
  throw refused(handler, `what it says: ${fault}`, 'Body');
}

/** Checks the target of a send. Throws `plugin_failed` with the field and the expectation. */
export function checkTarget(handler: string, to: unknown): void {
  if (!isNamed(to, 'endpoint', 'id'))
    throw refused(handler, 'send: to has to be a conversation or a user: { endpoint, id }', 'ConversationRef');
  const { thread } = to;
  if (thread !== undefined && typeof thread !== 'string')
    throw refused(handler, 'send: thread of to has to be a text', 'ConversationRef');
}

/** Checks the message of an edit, removal or reaction. */
export function checkMessage(handler: string, call: 'edit' | 'remove' | 'react', message: unknown): void {
  if (!isMessageRef(message))
    throw refused(
      handler,
      `${call}: message has to be a reference: what send or reply gave, or { endpoint, conversation, id }`,
      'MessageRef',
    );
}

export function checkEmoji(handler: string, emoji: unknown): void {
  if (typeof emoji !== 'string' || emoji === '') throw refused(handler, 'react: emoji has to be a text', 'ctx.react');
}

/** Checks a file to save. */
export function checkFile(handler: string, { name, mime, bytes }: Fields): void {
  if (typeof name !== 'string' || typeof mime !== 'string')
    throw refused(handler, 'saveFile: name and mime have to be texts', 'ctx.saveFile');
  if (!(bytes instanceof Uint8Array))
    throw refused(handler, 'saveFile: bytes has to be a Uint8Array or a Buffer', 'ctx.saveFile');
}

const refused = (handler: string, fault: string, declared: string): SvcError =>
  new SvcError('plugin_failed', `${handler}: ${fault}`, { hint: `see ${declared} in the declarations of svc` });

/** True for the result of `ctx.reply` or `ctx.send`. A handler that returns it has already sent its answer. */
export const isSaid = (result: unknown): boolean =>
  isObject(result) && typeof result['sent'] === 'string' && Object.keys(result).length === 1;

const FIELDS: Readonly<Record<keyof Content, (value: unknown) => string | undefined>> = {
  text: (value) => (typeof value === 'string' ? undefined : faultOfRich(value)),
  buttons: (value) => listOf(value, isButton, 'buttons has to be a list of what action.button(…) makes'),
  files: (value) =>
    listOf(value, isFile, 'files has to be a list of files, each as it came or as ctx.saveFile gave it'),
  replyTo: (value) => (isMessageRef(value) ? undefined : 'replyTo has to be the reference of a message'),
  thread: (value) => (isMessageRef(value) ? undefined : 'thread has to be the reference of a message'),
  only: (value) => (hasTexts(value, 'endpoint', 'id') ? undefined : 'only has to be a user: { endpoint, id }'),
  unsure: (value) => (value === 'again' || value === 'hold' ? undefined : "unsure has to be 'again' or 'hold'"),
};

/** The fault of a body; undefined if there is none. */
export function bodyFault(body: unknown): string | undefined {
  if (typeof body === 'string') return undefined;
  if (!isObject(body)) return `it has to be a text, md\`…\` or an object, got ${nameOf(body)}`;
  const isRich = 'segments' in body;
  const fault = isRich ? faultOfRich(body) : undefined;
  if (fault !== undefined) return fault;
  const names = Object.keys(FIELDS).filter((name): name is keyof Content => body[name] !== undefined);
  if (names.length === 0 && !isRich) return `it has none of ${Object.keys(FIELDS).join(', ')}`;
  for (const name of names) {
    const fault = FIELDS[name](body[name]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfRich(value: unknown): string | undefined {
  if (!isObject(value) || !Array.isArray(value['segments'])) return 'text has to be a text or md`…`';
  return listOf(value['segments'], isSegment, 'segments has to be a list of segments, as md`…` makes them');
}

function isSegment(value: unknown): boolean {
  if (!isObject(value)) return false;
  switch (value['kind']) {
    case 'text':
    case 'code':
    case 'quote':
      return hasTexts(value, 'text');
    case 'link':
      return hasTexts(value, 'text', 'url');
    case 'mention':
      return value['user'] === 'everyone' || hasTexts(value['user'], 'endpoint', 'id');
    default:
      return false;
  }
}

const isButton = (value: unknown): boolean => hasTexts(value, 'label', 'action');
const isFile = (value: unknown): boolean =>
  hasTexts(value, 'id', 'name', 'mime') && Number.isFinite((value as Fields)['bytes']);
const isMessageRef = (value: unknown): boolean =>
  isNamed(value, 'sent') || isNamed(value, 'endpoint', 'conversation', 'id');

const listOf = (value: unknown, isOne: (one: unknown) => boolean, fault: string): string | undefined =>
  Array.isArray(value) && value.every(isOne) ? undefined : fault;
const hasTexts = (value: unknown, ...names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => typeof value[name] === 'string');
const isNamed = (value: unknown, ...names: readonly string[]): value is Fields =>
  isObject(value) && names.every((name) => typeof value[name] === 'string' && value[name] !== '');
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const nameOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value);
