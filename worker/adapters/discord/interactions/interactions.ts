// Interactions: commands and pressed buttons, the same over HTTP and over the gateway. Pure.
//
//   DISCORD-INTERACTIONS-1  The delivery id is the interaction's id, so the inbox drops a duplicate that came over both ways. The token is never
//                           stored.
//   DISCORD-INTERACTIONS-2  A command is answered with "thinking…", visible to its person only. The reply is a normal message of the channel with a
//                           nonce against duplicates. The reply removes "thinking…". A press is acknowledged without text.
//   DISCORD-INTERACTIONS-3  Options become arguments by name, unless the command was announced with a single option for its whole line.

import type { Arrival } from '../../../sdk/index.ts';
import { type Json, listAt, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { conversationOf, isAdministering, messageId, nameOf, privateWith, timeOf } from '../place.ts';
import { LINE_OPTION } from './commands.ts';
import type { Deferral } from './deferred.ts';

const COMMAND = 2;
const COMPONENT = 3;
const AUTOCOMPLETE = 4;
const CHAT_INPUT = 1;
const BUTTON = 2;
const EPHEMERAL = 1 << 6;

export interface Asked {
  readonly application: string;
  /** Time for events without their own. Epoch ms. */
  readonly now: number;
}

/** The events of an interaction. Throws if the object is none. */
export function interactionArrivals(interaction: Json, { application, now }: Asked): readonly Arrival[] {
  const { type } = interaction;
  const id = textAt(interaction, 'id');
  if (id === undefined || typeof type !== 'number') throw new Error('not an interaction: it has no id or no type');
  if (type === AUTOCOMPLETE) return [];
  const data = objectAt(interaction, 'data');
  const base = { id: `${application}/i/${id}`, sentAt: timeOf(id) ?? now, ...placeOf(interaction) };
  if (type === COMMAND && (data['type'] ?? CHAT_INPUT) === CHAT_INPUT)
    return [{ kind: 'command', name: textAt(data, 'name') ?? '', ...base, ...argumentsOf(data) }];
  const message = textAt(objectAt(interaction, 'message'), 'id');
  const token = textAt(data, 'custom_id');
  if (type === COMPONENT && data['component_type'] === BUTTON && message !== undefined && token !== undefined)
    return [{ ...base, kind: 'pressed', message: messageId(channelOf(interaction), message), token }];
  const { token: _, ...raw } = interaction;
  return [{ ...base, kind: 'other', type: `interaction.${type}`, raw }];
}

/** The answer to Discord, due within three seconds. A command gets "thinking…", a press an acknowledgement. */
export function answerTo({ type }: Json): Json {
  if (type === AUTOCOMPLETE) return { type: 8, data: { choices: [] } };
  return type === COMMAND ? { type: 5, data: { flags: EPHEMERAL } } : { type: 6 };
}

/** Conversation of the reply, and the token with which "thinking…" is removed. Undefined for interactions that show none. */
export function deferredOf(interaction: Json): Omit<Deferral, 'told'> | undefined {
  const token = textAt(interaction, 'token');
  if (interaction['type'] !== COMMAND || token === undefined) return undefined;
  const { conversation, user } = placeOf(interaction);
  return { conversation: conversation.id, aside: privateWith(user.id), token };
}

const channelOf = (interaction: Json): string =>
  textAt(interaction, 'channel_id') ?? textAt(objectAt(interaction, 'channel'), 'id') ?? 'unknown';

function placeOf(interaction: Json): Pick<Arrival, 'conversation' | 'user'> {
  const member = objectAt(interaction, 'member');
  const user = 'user' in member ? objectAt(member, 'user') : objectAt(interaction, 'user');
  const id = textAt(user, 'id') ?? 'unknown';
  const guild = textAt(interaction, 'guild_id');
  // The command came from a private channel that the bot is not part of.
  const isElsewhere = guild === undefined && interaction['context'] === 2;
  return {
    conversation: conversationOf({
      channel: channelOf(interaction),
      guild: isElsewhere ? 'none' : guild,
      person: id,
      name: textAt(objectAt(interaction, 'channel'), 'name'),
    }),
    user: { id, name: nameOf(user, member), admin: isAdministering(textAt(member, 'permissions')) },
  };
}

/** Options by name, or the whole line if the command was announced with that single option. */
function argumentsOf(data: Json): Pick<Extract<Arrival, { kind: 'command' }>, 'args' | 'line'> {
  const options = listAt(data, 'options');
  const [only] = options;
  const line = only?.['value'];
  if (options.length === 1 && only?.['name'] === LINE_OPTION && typeof line === 'string') return { args: {}, line };
  const values = options.flatMap((option) => {
    const name = textAt(option, 'name');
    return name === undefined || option['value'] === undefined ? [] : [[name, option['value']] as const];
  });
  return { args: Object.fromEntries(values) };
}
