// Validates arrivals from adapters, which may be plain JavaScript. Otherwise a missing field would fail later in a handler, or be stored with a wrong
// type.
// Written by hand for speed, because every message passes here.
import { SvcError } from '../../shared/svc-error.ts';
import type { Arrival } from '../sdk/index.ts';

type Fields = Readonly<Record<string, unknown>>;

const KINDS = [
  'message',
  'edited',
  'deleted',
  'command',
  'pressed',
  'reaction',
  'member',
  'other',
] satisfies readonly Arrival['kind'][];

/** Returns the same list. Throws `plugin_failed` with adapter, field and expectation, never with user content. */
export function checkArrivals(adapter: string, arrivals: unknown): readonly Arrival[] {
  if (!Array.isArray(arrivals)) throw refused(adapter, 'what it hands in has to be a list of arrivals');
  for (const arrival of arrivals as readonly unknown[]) {
    const fault = isObject(arrival) ? faultOf(arrival) : 'an arrival has to be an object';
    if (fault !== undefined) throw refused(adapter, fault);
  }
  return arrivals as readonly Arrival[];
}

/** Returns the same cursor. Throws `plugin_failed` if it is not a text. */
export function checkCursor(adapter: string, cursor: unknown): string | undefined {
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw refused(adapter, 'the cursor of what it hands in has to be a text');
}

const refused = (adapter: string, fault: string): SvcError =>
  new SvcError('plugin_failed', `adapter ${adapter}: ${fault}`, { hint: 'see Arrival in the declarations of svc' });

function faultOf(arrival: Fields): string | undefined {
  const { id, sentAt, conversation, user } = arrival;
  if (typeof id !== 'string' || id === '') return of(arrival, 'id has to be a text that is not empty');
  if (typeof sentAt !== 'number' || !Number.isFinite(sentAt))
    return of(arrival, 'sentAt has to be a number of milliseconds');
  if (!isConversation(conversation))
    return of(arrival, "conversation has to be { id: text, kind: 'private' or 'group', name?: text, thread?: text }");
  if (!isUser(user)) return of(arrival, 'user has to be { id: text, name: text, admin: flag, self?: flag }');
  const fault = faultOfKind(arrival);
  return fault === undefined ? undefined : of(arrival, fault);
}

const of = ({ kind }: Fields, fault: string): string =>
  KINDS.includes(kind as Arrival['kind'])
    ? `an arrival of kind ${String(kind)}: ${fault}`
    : `an arrival: kind has to be one of ${KINDS.join(', ')}`;

function faultOfKind(arrival: Fields): string | undefined {
  switch (arrival['kind']) {
    case 'message':
    case 'edited':
      return faultOfMessage(arrival);
    case 'deleted':
      return faultOfTexts(arrival, MESSAGE);
    case 'pressed':
      return faultOfTexts(arrival, PRESSED);
    case 'command':
      if (!isObject(arrival['args'])) return 'args has to be an object';
      return isOptional(arrival['line'], 'string') ? faultOfTexts(arrival, COMMAND) : 'line has to be a text';
    case 'reaction':
      if (typeof arrival['on'] !== 'boolean') return 'on has to be true or false';
      return faultOfTexts(arrival, REACTION);
    case 'member':
      if (arrival['change'] !== 'joined' && arrival['change'] !== 'left') return "change has to be 'joined' or 'left'";
      return faultOfTexts(arrival, MEMBER);
    case 'other':
      return isOptional(arrival['fault'], 'string') ? faultOfTexts(arrival, OTHER) : 'fault has to be a text';
    default:
      return 'is none';
  }
}

const MESSAGE = ['message'] as const;
const PRESSED = ['message', 'token'] as const;
const COMMAND = ['name'] as const;
const REACTION = ['message', 'emoji'] as const;
const MEMBER = ['who'] as const;
const OTHER = ['type'] as const;

function faultOfTexts(arrival: Fields, names: readonly string[]): string | undefined {
  for (const name of names) if (typeof arrival[name] !== 'string') return `${name} has to be a text`;
  return undefined;
}

function faultOfMessage({ message, text, replyTo, addressed, files }: Fields): string | undefined {
  if (typeof message !== 'string') return 'message has to be a text';
  if (typeof text !== 'string' && !(Array.isArray(text) && text.every(isSegment)))
    return 'text has to be a text or a list of segments';
  if (!isOptional(replyTo, 'string')) return 'replyTo has to be a text';
  if (!isOptional(addressed, 'boolean')) return 'addressed has to be true or false';
  return files === undefined || Array.isArray(files) ? undefined : 'files has to be a list of files';
}

const isConversation = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['id'] === 'string' &&
  (value['kind'] === 'private' || value['kind'] === 'group') &&
  isOptional(value['name'], 'string') &&
  isOptional(value['thread'], 'string');

const isUser = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['id'] === 'string' &&
  typeof value['name'] === 'string' &&
  typeof value['admin'] === 'boolean' &&
  isOptional(value['self'], 'boolean');

const isSegment = (value: unknown): boolean => isObject(value) && typeof value['kind'] === 'string';

const isOptional = (value: unknown, type: 'string' | 'boolean'): boolean =>
  value === undefined || typeof value === type;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
