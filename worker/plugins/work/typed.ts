// What somebody typed after `/work`, as a command or a question. Pure.
import { readDuration } from '../../sdk/text/duration.ts';

export type Asked =
  | { readonly kind: 'command'; readonly command: { readonly kind: string; readonly [key: string]: unknown } }
  | {
      readonly kind: 'list';
      /** `all`, `mine`, or a state. */
      readonly filter: string;
    }
  | { readonly kind: 'show'; readonly item: string }
  | { readonly kind: 'join'; readonly code: string }
  | { readonly kind: 'fault'; readonly text: string };

export interface Place {
  /** The board of the conversation; undefined: it is bound to none. */
  readonly board: string | undefined;
  /** The item of the card that the line replies to. */
  readonly card?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The words of each command, as help and faults show them. */
export const USAGE: Readonly<Record<string, string>> = {
  new: 'new [<board>:] <title>',
  list: 'list [mine|blocked|assigned|active|review|done]',
  show: 'show <item>',
  take: 'take <item>',
  start: 'start <item>',
  drop: 'drop <item>',
  submit: 'submit <item> [text]',
  accept: 'accept <item>',
  reject: 'reject <item> [text]',
  cancel: 'cancel <item> [text]',
  reopen: 'reopen <item>',
  comment: 'comment <item> <text>',
  assign: 'assign <item> <member>',
  due: 'due <item> <3d|2027-01-31|none>',
  block: 'block <item> <dependency|approval|external|human_input> [needs <item>] [by <member>] [until <when>] <reason>',
  unblock: 'unblock <item> [b2]',
  ask: 'ask <item> <member> <question>',
  approve: 'approve <item> [text]',
  deny: 'deny <item> [text]',
  answer: 'answer <item> <text>',
  join: 'join <code>',
};

const ITEM_ONLY = ['take', 'start', 'drop', 'accept', 'reopen'];
const WITH_TEXT = ['submit', 'reject', 'cancel', 'approve', 'deny', 'answer'];
const NEEDS_TEXT = ['comment', 'answer'];
const BLOCKERS = ['dependency', 'approval', 'external', 'human_input'];

export function readLine(line: string, place: Place): Asked {
  const [word, rest] = firstWord(line);
  const name = word.toLowerCase();
  if (name === '') return { kind: 'list', filter: 'all' };
  if (!Object.hasOwn(USAGE, name)) return fault(`There is no "${word}". Known: ${Object.keys(USAGE).join(', ')}.`);
  if (name === 'list') return { kind: 'list', filter: rest.trim() === '' ? 'all' : rest.trim().toLowerCase() };
  if (name === 'join') return rest.trim() === '' ? usage(name) : { kind: 'join', code: rest.trim() };
  if (name === 'new') return readNew(rest, place);
  const [item, text] = readItem(name, rest, place);
  if (item === undefined) return usage(name);
  if (name === 'show') return { kind: 'show', item };
  if (ITEM_ONLY.includes(name)) return text === '' ? command(name, { item }) : usage(name);
  if (WITH_TEXT.includes(name) || name === 'comment') {
    if (text === '') return NEEDS_TEXT.includes(name) ? usage(name) : command(name, { item });
    const [first, behind] = firstWord(text);
    const isBlocker = ['approve', 'deny', 'answer'].includes(name) && /^b\d+$/.test(first) && behind.trim() !== '';
    return isBlocker ? command(name, { item, blocker: first, text: behind.trim() }) : command(name, { item, text });
  }
  if (name === 'unblock') return text === '' ? command(name, { item }) : command(name, { item, blocker: text });
  if (name === 'assign') return text === '' ? usage(name) : command(name, { item, member: memberOf(text) });
  if (name === 'due') return readDue(item, text, place);
  if (name === 'ask') {
    const [member, question] = firstWord(text);
    if (question.trim() === '') return usage(name);
    return command('block', { item, blocker: 'human_input', by: memberOf(member), reason: question.trim() });
  }
  return readBlock(item, text, place);
}

/**
 * The item, and what follows it. In a reply to a card the id may be left out. There a number that begins a text is part of the text: "comment 7 of 9
 * are done".
 */
function readItem(name: string, rest: string, place: Place): readonly [item: string | undefined, text: string] {
  const [given, after] = firstWord(rest);
  const isText = place.card !== undefined && /^\d+$/.test(given) && (WITH_TEXT.includes(name) || name === 'comment');
  const named = isText ? undefined : itemOf(given, place);
  return named === undefined ? [place.card, rest.trim()] : [named, after.trim()];
}

function readNew(rest: string, { board }: Place): Asked {
  const named = /^\s*([a-z][a-z0-9]{0,15}):\s+(\S[\s\S]*)$/.exec(rest);
  if (named !== null) return command('new', { board: named[1], title: named[2]?.trim() });
  if (rest.trim() === '') return usage('new');
  return board === undefined
    ? fault('This conversation belongs to no board: name one, as in "new web: <title>".')
    : command('new', { board, title: rest.trim() });
}

function readDue(item: string, text: string, place: Place): Asked {
  if (text === 'none') return command('due', { item, due: null });
  const due = timeOf(text, place.now);
  return due === undefined ? usage('due') : command('due', { item, due });
}

/** The options stand before the reason, in any order. */
function readBlock(item: string, text: string, place: Place): Asked {
  let [kind, rest] = firstWord(text);
  kind = kind.toLowerCase();
  if (!BLOCKERS.includes(kind)) return usage('block');
  const keys: Record<string, unknown> = {};
  for (;;) {
    const [word, after] = firstWord(rest);
    if (!['needs', 'by', 'until'].includes(word) || Object.hasOwn(keys, word)) break;
    const [value, behind] = firstWord(after);
    const read = word === 'needs' ? itemOf(value, place) : word === 'by' ? memberOf(value) : timeOf(value, place.now);
    if (read === undefined) return usage('block');
    keys[word] = read;
    rest = behind;
  }
  return rest.trim() === '' ? usage('block') : command('block', { item, blocker: kind, ...keys, reason: rest.trim() });
}

/** `web-7`, or `7` on the board of the conversation. */
function itemOf(given: string, { board }: Place): string | undefined {
  const text = given.replace(/^#/, '').toLowerCase();
  if (/^[a-z][a-z0-9]{0,15}-[1-9]\d*$/.test(text)) return text;
  return board !== undefined && /^[1-9]\d*$/.test(text) ? `${board}-${text}` : undefined;
}

const memberOf = (given: string): string => given.replace(/^@/, '').toLowerCase();

/** A duration from now, a day (its end, UTC), or an instant. */
function timeOf(text: string, now: number): number | undefined {
  const duration = readDuration(text);
  if (duration !== undefined) return now + duration;
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  if (!day && !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?$/.test(text)) return undefined;
  const at = Date.parse(day ? `${text}T23:59:59Z` : /(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** The first word, and what follows it. */
function firstWord(text: string): readonly [string, string] {
  const [, word = '', rest = ''] = /^\s*(\S*)([\s\S]*)$/.exec(text) ?? [];
  return [word, rest];
}

const command = (kind: string, keys: Readonly<Record<string, unknown>>): Asked => ({
  kind: 'command',
  command: { kind, ...keys },
});
const fault = (text: string): Asked => ({ kind: 'fault', text });
const usage = (name: string): Asked => fault(`Usage: /work ${USAGE[name]}`);
