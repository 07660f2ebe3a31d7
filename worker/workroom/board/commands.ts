// Commands of the Workroom: one union for chat, HTTP, the command line, jobs and plugins, and the check of what came from outside.
import { SvcError } from '../../../shared/svc-error.ts';
import { BLOCKER_KINDS, type BlockerKind, ROLES, type Role } from './model.ts';

/** One command for each of the kinds, with the same keys. */
type Each<K extends string, Keys> = K extends string ? { readonly kind: K } & Keys : never;
interface OfItem {
  readonly item: string;
}
interface Said extends OfItem {
  readonly text?: string;
}
interface OfBlocker extends Said {
  /** Left out: the only one that the command can end. */
  readonly blocker?: string;
}
interface OfBoard {
  readonly board: string;
}
interface OfMember {
  readonly member: string;
}

export type WorkCommand =
  | Each<'new', OfBoard & { readonly title: string; readonly text?: string; readonly assign?: string }>
  | Each<'edit', OfItem & { readonly title?: string; readonly text?: string }>
  | Each<'comment', OfItem & { readonly text: string }>
  | Each<'assign', OfItem & OfMember>
  | Each<'take' | 'start' | 'drop' | 'accept' | 'reopen', OfItem>
  | Each<'submit' | 'reject' | 'cancel', Said>
  | Each<'due', OfItem & { readonly due: number | null }>
  | Each<
      'block',
      OfItem & {
        readonly blocker: BlockerKind;
        readonly reason: string;
        readonly needs?: string;
        readonly by?: string;
        readonly until?: number | null;
      }
    >
  | Each<'unblock' | 'approve' | 'deny' | 'answer', OfBlocker>
  | Each<'member.add', OfMember & { readonly binding?: string }>
  | Each<'member.link' | 'member.unlink', OfMember & { readonly endpoint: string; readonly user: string }>
  | Each<'member.remove', OfMember>
  | Each<'board.add', OfBoard & { readonly name: string; readonly review?: boolean }>
  | Each<'board.change', OfBoard & { readonly name?: string; readonly review?: boolean }>
  | Each<'board.archive', OfBoard>
  | Each<'role.grant' | 'role.revoke', OfBoard & OfMember & { readonly role: Role }>
  | Each<'release', { readonly stream: string; readonly reason: string }>
  | Each<
      'conversation.bind' | 'conversation.unbind',
      OfBoard & { readonly endpoint: string; readonly conversation: string }
    >;

export type CommandKind = WorkCommand['kind'];
export type CommandOf<K extends CommandKind> = Extract<WorkCommand, { readonly kind: K }>;

type Form =
  | 'board'
  | 'item'
  | 'member'
  | 'blocker'
  | 'text'
  | 'name'
  | 'time'
  | 'flag'
  | 'role'
  | 'blockerKind'
  | 'stream';
interface Shape {
  readonly needed: Readonly<Record<string, Form>>;
  readonly other: Readonly<Record<string, Form>>;
}
const shape = (needed: Shape['needed'], other: Shape['other'] = {}): Shape => ({ needed, other });
const ITEM = shape({ item: 'item' });
const ITEM_TEXT = shape({ item: 'item' }, { text: 'text' });
const ANSWER = shape({ item: 'item' }, { blocker: 'blocker', text: 'text' });
const ROLE = shape({ board: 'board', member: 'member', role: 'role' });
const PLACE = shape({ board: 'board', endpoint: 'name', conversation: 'name' });
const LINK = shape({ member: 'member', endpoint: 'name', user: 'name' });

const SHAPES: Readonly<Record<CommandKind, Shape>> = {
  new: shape({ board: 'board', title: 'name' }, { text: 'text', assign: 'member' }),
  edit: shape({ item: 'item' }, { title: 'name', text: 'text' }),
  comment: shape({ item: 'item', text: 'text' }),
  assign: shape({ item: 'item', member: 'member' }),
  take: ITEM,
  start: ITEM,
  drop: ITEM,
  accept: ITEM,
  reopen: ITEM,
  submit: ITEM_TEXT,
  reject: ITEM_TEXT,
  cancel: ITEM_TEXT,
  due: shape({ item: 'item', due: 'time' }),
  block: shape(
    { item: 'item', blocker: 'blockerKind', reason: 'text' },
    { needs: 'item', by: 'member', until: 'time' },
  ),
  unblock: ANSWER,
  approve: ANSWER,
  deny: ANSWER,
  answer: ANSWER,
  release: shape({ stream: 'stream', reason: 'text' }),
  'member.add': shape({ member: 'member' }, { binding: 'name' }),
  'member.link': LINK,
  'member.unlink': LINK,
  'member.remove': shape({ member: 'member' }),
  'board.add': shape({ board: 'board', name: 'name' }, { review: 'flag' }),
  'board.change': shape({ board: 'board' }, { name: 'name', review: 'flag' }),
  'board.archive': shape({ board: 'board' }),
  'role.grant': ROLE,
  'role.revoke': ROLE,
  'conversation.bind': PLACE,
  'conversation.unbind': PLACE,
};
export const COMMAND_KINDS = Object.keys(SHAPES) as readonly CommandKind[];

const PATTERNS: Partial<Record<Form, { readonly pattern: RegExp; readonly expected: string }>> = {
  board: { pattern: /^[a-z][a-z0-9]{0,15}$/, expected: 'a board: a-z and digits, at most 16, a letter first' },
  item: { pattern: /^[a-z][a-z0-9]{0,15}-[1-9][0-9]{0,9}$/, expected: 'an item such as web-7' },
  member: { pattern: /^[a-z][a-z0-9-]{0,31}$/, expected: 'a member: a-z, digits and "-", at most 32, a letter first' },
  stream: {
    pattern: /^(team|board\/[a-z][a-z0-9]{0,15}|item\/[a-z][a-z0-9]{0,15}-[1-9][0-9]{0,9})$/,
    expected: 'a stream: team, board/<id> or item/<id>',
  },
  blocker: { pattern: /^b[1-9][0-9]{0,5}$/, expected: 'a blocker such as b1' },
};
const MAX_NAME_BYTES = 512;
const MAX_TIME = 8.64e15;

/**
 * Checks a command that came from outside: from HTTP, the command line or a plugin.
 * @throws SvcError `invalid_request` with the key, what was expected and what was found.
 */
export function parseCommand(given: unknown, maxTextBytes: number): WorkCommand {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid('', 'a command: an object with "kind"');
  const command = given as Readonly<Record<string, unknown>>;
  const kind = command['kind'];
  if (typeof kind !== 'string' || !Object.hasOwn(SHAPES, kind))
    throw invalid('kind', `one of ${COMMAND_KINDS.join(', ')}`);
  const { needed, other } = SHAPES[kind as CommandKind];
  const known = { ...needed, ...other };
  for (const key of Object.keys(command))
    if (key !== 'kind' && !Object.hasOwn(known, key))
      throw invalid(key, `no such key: ${kind} takes ${Object.keys(known).join(', ')}`);
  for (const [key, form] of Object.entries(known)) {
    const value = command[key];
    if (value === undefined && Object.hasOwn(other, key)) continue;
    const expected = faultOf(form, value, maxTextBytes);
    if (expected !== undefined) throw invalid(key, expected);
  }
  return command as unknown as WorkCommand; // each key was checked against its shape
}

function faultOf(form: Form, value: unknown, maxTextBytes: number): string | undefined {
  if (form === 'flag') return typeof value === 'boolean' ? undefined : 'true or false';
  if (form === 'time') {
    const fits =
      value === null || (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TIME);
    return fits ? undefined : 'epoch milliseconds, or null for none';
  }
  if (form === 'role') return oneOf(ROLES, value);
  if (form === 'blockerKind') return oneOf(BLOCKER_KINDS, value);
  if (typeof value !== 'string') return 'a text';
  const { pattern, expected } = PATTERNS[form] ?? {};
  if (pattern !== undefined) return pattern.test(value) ? undefined : expected;
  const limit = form === 'name' ? Math.min(MAX_NAME_BYTES, maxTextBytes) : maxTextBytes;
  if (!value.isWellFormed()) return 'well-formed Unicode';
  if (value.trim() === '') return 'a text that is not empty';
  return Buffer.byteLength(value) > limit ? `at most ${limit} bytes` : undefined;
}

const oneOf = (values: readonly string[], value: unknown): string | undefined =>
  typeof value === 'string' && values.includes(value) ? undefined : `one of ${values.join(', ')}`;

const invalid = (key: string, expected: string): SvcError =>
  new SvcError('invalid_request', `${key === '' ? 'command' : `/${key}`}: expected ${expected}`);
