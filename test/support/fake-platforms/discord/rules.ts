// What the fake Discord refuses of a message, and whom one notifies.
import type { FakeMessage, Json } from './world.ts';

export interface RestAnswer {
  readonly status: number;
  readonly json?: unknown;
}

export const apiError = (status: number, code: number, message: string, errors?: Json): RestAnswer => ({
  status,
  json: { message, code, ...(errors === undefined ? {} : { errors }) },
});
export const invalid = (field: string, code: string, message: string): RestAnswer =>
  apiError(400, 50_035, 'Invalid Form Body', { [field]: { _errors: [{ code, message }] } });
/** Of the bot. */
export function react(message: FakeMessage, emoji: string, on: boolean): RestAnswer {
  if (/^[\w ]+$/.test(emoji)) return apiError(400, 10_014, 'Unknown Emoji');
  const at = message.reactions.indexOf(emoji);
  if (on && at === -1) message.reactions.push(emoji);
  if (!on && at !== -1) message.reactions.splice(at, 1);
  return { status: 204 };
}

/** Limits of the documentation. */
export function faultOf(body: Json, files: number): RestAnswer | undefined {
  const content = String(body['content'] ?? '');
  if (Array.from(content).length > 2_000)
    return invalid('content', 'BASE_TYPE_MAX_LENGTH', 'Must be 2000 or fewer in length.');
  if (content.trim() === '' && files === 0) return apiError(400, 50_006, 'Cannot send an empty message');
  if (String(body['nonce'] ?? '').length > 25)
    return invalid('nonce', 'NONCE_TYPE_TOO_LONG', 'Must be 25 or fewer in length.');
  if (files > 10) return apiError(400, 30_015, 'Maximum number of attachments in a message reached (10)');
  const rows = (body['components'] ?? []) as readonly { readonly components: readonly Json[] }[];
  const buttons = rows.flatMap(({ components }) => components);
  const ids = buttons.map(({ custom_id: id }) => String(id));
  if (rows.length > 5 || rows.some(({ components }) => components.length < 1 || components.length > 5))
    return invalid('components', 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 5 in length.');
  if (new Set(ids).size < ids.length)
    return invalid('components', 'COMPONENT_CUSTOM_ID_DUPLICATED', 'Component custom id cannot be duplicated');
  if (ids.some((id) => id.length < 1 || id.length > 100) || buttons.some(({ label }) => String(label).length > 80))
    return invalid('components', 'BASE_TYPE_MAX_LENGTH', 'Must be 100 or fewer in length.');
  const { parse = [], users = [] } = (body['allowed_mentions'] ?? {}) as {
    readonly parse?: readonly string[];
    readonly users?: readonly string[];
  };
  return parse.includes('users') && users.length > 0
    ? invalid(
        'allowed_mentions',
        'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE',
        'parse:["users"] and users: [ids...] are mutually exclusive.',
      )
    : undefined;
}

/** Discord reads mentions without regard to markup: only `allowed_mentions` closes them. */
export function notifiedBy(content: string, allowed: Json): readonly string[] {
  const { parse = [], users = [] } = allowed as {
    readonly parse?: readonly string[];
    readonly users?: readonly string[];
  };
  const named = [...content.matchAll(/<@!?(\d+)>/g)].map(([, id = '']) => id);
  const people = named.filter((id) => parse.includes('users') || users.includes(id));
  return /@(?:everyone|here)/.test(content) && parse.includes('everyone') ? [...people, 'everyone'] : people;
}
